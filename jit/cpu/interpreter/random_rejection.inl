// Draws by rejection, some dozens of elements at a time: an attempt of all of them in vectors, then one of those that are left, and
// so on. An element's words and operations are those of the text (jit/prelude/random.h), and so are its bits; what attempts
// have in common where the parameters of all elements are equal is computed once. To be included by random.inl.
namespace sinter::jit::tier0::SINTER_ISA {
namespace {

constexpr int trial_lanes = 128;  // elements at a time, each with blocks of its own
constexpr int trial_step = 2 * half_count;

/// Elements that are left, with `Fields` numbers of each. The arrays are filled up to whole vectors.
template <int Fields>
struct trials {
  int count = 0;
  int lane[trial_lanes];
  alignas(64) std::int64_t position[trial_lanes];
  alignas(64) double of[Fields][trial_lanes];

  int padded() const { return (count + trial_step - 1) / trial_step * trial_step; }
  void fill_up() {
    for (int l = count; l < padded(); ++l) {
      position[l] = position[count - 1];
      for (auto& field : of) field[l] = field[count - 1];
    }
  }
  /// Keeps the elements at these places, which ascend.
  void keep(const int* places, int n) {
    for (int k = 0; k < n; ++k) {
      lane[k] = lane[places[k]];
      position[k] = position[places[k]];
      for (auto& field : of) field[k] = field[places[k]];
    }
    count = n;
    if (n > 0) fill_up();
  }
  template <class... Numbers>
  void add(int l, std::int64_t at, Numbers... numbers) {
    lane[count] = l;
    position[count] = at;
    int k = 0;
    ((of[k++][count] = numbers), ...);
    ++count;
  }
  /// Whether all elements have the same first numbers.
  template <int First>
  bool are_equal() const {
    unsigned long long differ = 0;
    for (int k = 0; k < First; ++k)
      SINTER_LANES(l, count) differ |= sn::to_bits(of[k][l]) ^ sn::to_bits(of[k][0]);
    return differ == 0;
  }
};

/// Block `again` of each element.
void fill_trials(word_arrays& b, const std::int64_t* position, int padded, sn::random_stream s, unsigned again) noexcept {
  s.subsequence += (unsigned long long)(again) << 32;
  const halves none{}, by0 = none + 0xD2511F53ull, by1 = none + 0xCD9E8D57ull, base = none + s.base;
  const halves c2 = none + (s.subsequence & 0xffffffffull), c3 = none + (s.subsequence >> 32);
  for (int g = 0; g < padded; g += trial_step) {
    halves at[2];
    __builtin_memcpy(at, position + g, sizeof at);
    at[0] += base;
    at[1] += base;
    unsigned k0 = unsigned(s.key), k1 = unsigned(s.key >> 32);
    half_words x{at[0], at[0] >> 32, c2, c3}, y{at[1], at[1] >> 32, c2, c3};
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      next_round(x, by0, by1, k0, k1);
      next_round(y, by0, by1, k0, k1);
    }
    put_words(b.w0 + g, x.w0, y.w0);
    put_words(b.w1 + g, x.w1, y.w1);
    put_words(b.w2 + g, x.w2, y.w2);
    put_words(b.w3 + g, x.w3, y.w3);
  }
}

/// The places where a flag is set.
SN_FN int places_of(const unsigned char* flags, int n, int* places) {
  int count = 0;
  for (int l = 0; l < n; ++l) {
    places[count] = l;
    count += flags[l];
  }
  return count;
}

// As the text's functions of these names, without branches.
SN_FN double lane_log1p(double x) {
  const double near = sn::log_near_one(x), far = sn::random_log(1.0 + x);
  return bool(int(x > -0.29) & int(x < 0.41)) ? near : far;
}
void stirling_rests(const double* k, double* to, int n) noexcept {
  double least = 10.0;
  SINTER_LANES(l, n) {
    const double r = 1.0 / (k[l] + 1.0), z = r * r;
    to[l] = r * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0))));
  }
  for (int l = 0; l < n; ++l) least = k[l] < least ? k[l] : least;
  if (least >= 10.0) return;
  for (int l = 0; l < n; ++l)
    if (k[l] < 10.0) to[l] = sn::stirling_rest(k[l]);
}

// Gamma variates of shapes from 1 on: of each its 3 (shape - 1/3) and what scales the normal variate.
struct gamma_draws {
  enum : int { shape, scale };
  alignas(64) double variate[trial_lanes], spare[trial_lanes];

  void draw(trials<2>& t, const sn::random_stream& s, unsigned again, unsigned step) noexcept {
    t.fill_up();
    prepare(t);
    alignas(64) double some[trial_lanes], some_spare[trial_lanes];
    for (bool first = true; t.count > 0; first = false, again += step) {
      double *value = first ? variate : some, *rest = first ? spare : some_spare;
      int left[trial_lanes];
      const int n = attempt(t, s, again, value, rest, left);
      if (!first) {
        for (int l = 0; l < t.count; ++l) {
          variate[t.lane[l]] = some[l];
          spare[t.lane[l]] = some_spare[l];
        }
      }
      t.keep(left, n);
    }
  }

 private:
  static void prepare(trials<2>& t) noexcept {
    const int n = t.are_equal<1>() ? 1 : t.padded();
    double* const d = t.of[shape];
    double* const c = t.of[scale];
    SINTER_LANES(l, n) {
      d[l] = d[l] - 1.0 / 3.0;
      c[l] = 1.0 / __builtin_sqrt(9.0 * d[l]);
    }
    if (n == 1) {
      for (int l = 1; l < t.padded(); ++l) {
        d[l] = d[0];
        c[l] = c[0];
      }
    }
  }

  /// The variates of this attempt, and the places of those that are refused.
  static int attempt(const trials<2>& t, const sn::random_stream& s, unsigned again, double* value, double* rest,
                     int* left) noexcept {
    word_arrays b, more;
    const int n = t.padded();
    fill_trials(b, t.position, n, s, again);
    fill_trials(more, t.position, n, s, again + 1u);
    alignas(64) double roots[trial_lanes], cubes[trial_lanes], squares[trial_lanes], chances[trial_lanes];
    alignas(64) unsigned char asked[trial_lanes];
    const double *d = t.of[shape], *c = t.of[scale];
    SINTER_LANES(l, n) {
      const double x = sn::normal_pair(sn::random_words{b.w0[l], b.w1[l], b.w2[l], b.w3[l]}).first;
      const double root = SN_FMA_D(c[l], x, 1.0), v = root * root * root, square = x * x;
      const double u = sn::inner_double(more.w0[l], more.w1[l]);
      rest[l] = sn::inner_double(more.w2[l], more.w3[l]);
      roots[l] = root;
      cubes[l] = v;
      squares[l] = square;
      chances[l] = u;
      value[l] = d[l] * v;
      asked[l] = bool(int(!(root > 0.0)) | int(!(u < 1.0 - 0.0331 * square * square)));
    }
    int places[trial_lanes];
    const int open = places_of(asked, t.count, places);
    // Those few by logarithms.
    alignas(64) double u[trial_lanes], v[trial_lanes], square[trial_lanes], by[trial_lanes];
    for (int k = 0; k < open; ++k) {
      u[k] = chances[places[k]];
      v[k] = cubes[places[k]];
      square[k] = squares[places[k]];
      by[k] = d[places[k]];
    }
    const int whole = (open + trial_step - 1) / trial_step * trial_step;
    for (int k = open; k < whole; ++k) u[k] = v[k] = square[k] = by[k] = 1.0;
    alignas(64) unsigned char fits[trial_lanes];
    SINTER_LANES(k, whole)
    fits[k] = sn::random_log(u[k]) < 0.5 * square[k] + by[k] * (1.0 - v[k] + sn::random_log(v[k]));
    int count = 0;
    for (int k = 0; k < open; ++k) {
      left[count] = places[k];
      count += !(roots[places[k]] > 0.0) || !fits[k];
    }
    return count;
  }
};

// Counts by going through a distribution function, from the probability of 0 on. `Next` gives the next probability of an
// element; where the parameters of all elements are equal, that is one number.
template <int Fields, class Next>
void search_counts(const trials<Fields>& t, double* first, bool equal, int most, const sn::random_stream& s, double* count,
                   const Next& next) noexcept {
  word_arrays b;
  const int n = t.padded();
  fill_trials(b, t.position, n, s, 0u);
  alignas(64) double u[trial_lanes];
  SINTER_LANES(l, n) {
    u[l] = sn::unit_double(b.w0[l], b.w1[l]);
    count[l] = 0.0;
  }
  for (int k = 0; k <= most; ++k) {
    // An element that has been found gets -1, which no further probability changes.
    unsigned long long found = 0x8000000000000000ull;
    if (equal) {
      const double p = first[0];
      SINTER_LANES(l, n) {
        const bool here = u[l] < p;
        const double less = u[l] - p, more = count[l] + 1.0;
        u[l] = here ? -1.0 : less;
        count[l] = here ? count[l] : more;
        found &= sn::to_bits(u[l]);
      }
      if (found != 0) return;
      first[0] = next(first[0], 0, double(k));
    } else {
      SINTER_LANES(l, n) {
        const double p = first[l];
        const bool here = u[l] < p;
        const double less = u[l] - p, more = count[l] + 1.0;
        u[l] = here ? -1.0 : less;
        count[l] = here ? count[l] : more;
        found &= sn::to_bits(u[l]);
        first[l] = next(p, l, double(k));
      }
      if (found != 0) return;
    }
  }
  // The text draws again for the others.
  SINTER_LANES(l, n) count[l] = u[l] < 0.0 ? count[l] : -1.0;
}

// Counts by transformed rejection. `Law` says what of[0] to of[3] do not: the first are the text's b, a, always and the factor
// of v in the last test.
template <class Law, int Fields>
void transformed_counts(trials<Fields>& t, const sn::random_stream& s, double* count) noexcept {
  for (unsigned again = 0; t.count > 0; ++again) {
    word_arrays w;
    const int n = t.padded();
    fill_trials(w, t.position, n, s, again);
    alignas(64) double us[trial_lanes], vs[trial_lanes], ks[trial_lanes];
    alignas(64) unsigned char asked[trial_lanes], never[trial_lanes];
    SINTER_LANES(l, n) {
      const double u = sn::inner_double(w.w0[l], w.w1[l]) - 0.5, v = sn::inner_double(w.w2[l], w.w3[l]);
      const double from_end = 0.5 - __builtin_fabs(u);
      const double k = Law::candidate(t, l, (2.0 * t.of[1][l] / from_end + t.of[0][l]) * u);
      us[l] = from_end;
      vs[l] = v;
      ks[l] = k;
      asked[l] = bool(int(!(from_end >= 0.07)) | int(!(v <= t.of[2][l])));
      never[l] = Law::is_outside(t, l, k, from_end, v);
    }
    int places[trial_lanes], left[trial_lanes], open = 0, count_left = 0;
    const int all = places_of(asked, t.count, places);
    // Places of what a last test decides, then of what is refused at once, which are joined again below.
    trials<Fields> last;
    alignas(64) double lu[trial_lanes], lv[trial_lanes], lk[trial_lanes];
    for (int i = 0; i < all; ++i) {
      const int l = places[i];
      if (never[l]) continue;
      for (int f = 0; f < Fields; ++f) last.of[f][open] = t.of[f][l];
      last.lane[open] = l;
      last.position[open] = 0;
      lu[open] = us[l];
      lv[open] = vs[l];
      lk[open++] = ks[l];
    }
    alignas(64) unsigned char fits[trial_lanes];
    if (open > 0) {
      last.count = open;
      last.fill_up();
      const int whole = last.padded();
      for (int k = open; k < whole; ++k) {
        lu[k] = lu[0];
        lv[k] = lv[0];
        lk[k] = lk[0];
      }
      alignas(64) double chance[trial_lanes];
      Law::chances(last, lk, chance, whole);
      SINTER_LANES(i, whole)
      fits[i] = sn::random_log(lv[i] * last.of[3][i] / (last.of[1][i] / (lu[i] * lu[i]) + last.of[0][i])) <= chance[i];
    }
    for (int l = 0; l < t.count; ++l) count[t.lane[l]] = ks[l];
    for (int i = 0, at = 0; i < all; ++i) {
      const int l = places[i];
      left[count_left] = l;
      count_left += never[l] ? 1 : fits[at++] == 0;
    }
    t.keep(left, count_left);
  }
}

struct poisson_law {
  enum : int { b, a, always, factor, mean, height };
  typedef trials<6> lanes;

  static void prepare(lanes& t) noexcept {
    const int n = t.padded();
    for (int l = 0; l < n; ++l) {
      if (l > 0 && t.of[mean][l] == t.of[mean][l - 1]) {
        for (const int f : {int(b), int(a), int(always), int(factor), int(height)}) t.of[f][l] = t.of[f][l - 1];
        continue;
      }
      const double m = t.of[mean][l], wide = 0.931 + 2.53 * __builtin_sqrt(m);
      t.of[b][l] = wide;
      t.of[a][l] = -0.059 + 0.02483 * wide;
      t.of[factor][l] = 1.1239 + 1.1328 / (wide - 3.4);
      t.of[always][l] = 0.9277 - 3.6224 / (wide - 2.0);
      t.of[height][l] = 0.5 * sn::random_log(6.283185307179586477 * m);
    }
  }
  SN_MEMBER double candidate(const lanes& t, int l, double from) {
    return __builtin_floor(from + t.of[mean][l] + 0.43);
  }
  SN_MEMBER bool is_outside(const lanes&, int, double k, double us, double v) {
    return bool(int(k < 0.0) | (int(us < 0.013) & int(v > us)));
  }
  static void chances(const lanes& t, const double* k, double* to, int n) noexcept {
    alignas(64) double rest[trial_lanes];
    stirling_rests(k, rest, n);
    SINTER_LANES(l, n) {
      const double m = t.of[mean][l], apart = k[l] + 1.0 - m;
      to[l] = apart - (k[l] + 0.5) * lane_log1p(apart / m) - t.of[height][l] - rest[l];
    }
  }
};

struct binomial_law {
  enum : int { b, a, always, factor, n, centre, odds, mode, first, mode_rest, other_rest };
  typedef trials<11> lanes;

  /// From the number of trials in `n` and the probability in `odds`.
  static void prepare(lanes& t) noexcept {
    const int count = t.padded();
    double n_before = -1.0, p_before = -1.0;
    for (int l = 0; l < count; ++l) {
      const double many = t.of[n][l], p = t.of[odds][l];
      if (many == n_before && p == p_before) {
        for (auto& field : t.of) field[l] = field[l - 1];
        continue;
      }
      n_before = many;
      p_before = p;
      const double q = 1.0 - p, spread = __builtin_sqrt(many * p * q), wide = 1.15 + 2.53 * spread;
      const double ratio = p / q, m = __builtin_floor((many + 1.0) * p);
      t.of[b][l] = wide;
      t.of[a][l] = -0.0873 + 0.0248 * wide + 0.01 * p;
      t.of[centre][l] = many * p + 0.5;
      t.of[always][l] = 0.92 - 4.2 / wide;
      t.of[factor][l] = (2.83 + 5.1 / wide) * spread;
      t.of[odds][l] = ratio;
      t.of[mode][l] = m;
      t.of[first][l] = (m + 0.5) * sn::random_log((m + 1.0) / (ratio * (many - m + 1.0)));
      t.of[mode_rest][l] = sn::stirling_rest(m);
      t.of[other_rest][l] = sn::stirling_rest(many - m);
    }
  }
  SN_MEMBER double candidate(const lanes& t, int l, double from) { return __builtin_floor(from + t.of[centre][l]); }
  SN_MEMBER bool is_outside(const lanes& t, int l, double k, double, double) {
    return bool(int(k < 0.0) | int(k > t.of[n][l]));
  }
  static void chances(const lanes& t, const double* k, double* to, int count) noexcept {
    alignas(64) double rest[trial_lanes], other[trial_lanes], others[trial_lanes];
    SINTER_LANES(l, count) others[l] = t.of[n][l] - k[l];
    stirling_rests(k, rest, count);
    stirling_rests(others, other, count);
    SINTER_LANES(l, count) {
      const double all = t.of[n][l];
      to[l] = t.of[first][l] + (all + 1.0) * lane_log1p((k[l] - t.of[mode][l]) / (all - k[l] + 1.0)) +
              (k[l] + 0.5) * sn::random_log(t.of[odds][l] * (all - k[l] + 1.0) / (k[l] + 1.0)) + t.of[mode_rest][l] +
              t.of[other_rest][l] - rest[l] - other[l];
    }
  }
};

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
