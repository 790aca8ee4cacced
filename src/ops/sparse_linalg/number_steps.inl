// The numbers of the iterations, as text that is both compiled and embedded (steps.cpp): no directives, no comments in it are kept.
SINTER_NUMBER_TEXT(
// c a + s b = r, c b - s a = 0; r is not negative (SciPy's _sym_ortho).
struct plane_rotation {
  double c; double s; double r;
};
__device__ inline double sign_of_number(double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : 0.0); }
__device__ inline plane_rotation rotation_of_numbers(double a, double b) {
  plane_rotation q;
  if (b == 0) {
    q.c = sign_of_number(a);
    q.s = 0;
    q.r = fabs(a);
  } else if (a == 0) {
    q.c = 0;
    q.s = sign_of_number(b);
    q.r = fabs(b);
  } else if (fabs(b) > fabs(a)) {
    const double tau = a / b;
    q.s = sign_of_number(b) / sqrt(1 + tau * tau);
    q.c = q.s * tau;
    q.r = b / q.s;
  } else {
    const double tau = b / a;
    q.c = sign_of_number(a) / sqrt(1 + tau * tau);
    q.s = q.c * tau;
    q.r = a / q.c;
  }
  return q;
}
// The stopping rules that lsqr and lsmr share.
__device__ inline double least_squares_code(double test1, double test2, double test3, double relative, double atol,
                                            double btol, double ctol, double itn, double most) {
  double code = itn >= most ? 7 : 0;
  if (1 + test3 <= 1) code = 6;
  if (1 + test2 <= 1) code = 5;
  if (1 + test1 / (1 + relative) <= 1) code = 4;
  if (test3 <= ctol) code = 3;
  if (test2 <= atol) code = 2;
  if (test1 <= btol + atol * relative) code = 1;
  return code;
}

struct lsmr_numbers {
  double status; double itn; double inverse_alpha; double alpha_over_beta;
  double hbar_factor; double x_factor; double h_factor;
  double normr; double normar; double norma; double conda; double normx;
  double damp; double atol; double btol; double ctol; double norm_of_b; double most;
  double alphabar; double rho; double rhobar; double cbar; double sbar; double zeta; double zetabar;
  double betadd; double betad; double rhodold; double tautildeold; double thetatilde; double d;
  double norma2; double maxrbar; double minrbar; double alpha;
};
__device__ inline void lsmr_numbers_advance(lsmr_numbers& k, double alpha, double beta) {
  if (k.status != 0) return;
  if (!(beta > 0)) alpha = k.alpha;
  k.alpha = alpha;
  k.itn += 1;
  k.inverse_alpha = alpha > 0 ? 1 / alpha : 1;
  k.alpha_over_beta = beta > 0 ? alpha / beta : alpha;
  const plane_rotation hat = rotation_of_numbers(k.alphabar, k.damp);
  const plane_rotation plain = rotation_of_numbers(hat.r, beta);
  const double rhoold = k.rho; const double rhobarold = k.rhobar; const double zetaold = k.zeta;
  k.rho = plain.r;
  const double thetanew = plain.s * alpha;
  k.alphabar = plain.c * alpha;
  const double thetabar = k.sbar * k.rho; const double rhotemp = k.cbar * k.rho;
  const plane_rotation bar = rotation_of_numbers(rhotemp, thetanew);
  k.cbar = bar.c;
  k.sbar = bar.s;
  k.rhobar = bar.r;
  k.zeta = k.cbar * k.zetabar;
  k.zetabar = -k.sbar * k.zetabar;
  k.hbar_factor = -(thetabar * k.rho / (rhoold * rhobarold));
  k.x_factor = k.zeta / (k.rho * k.rhobar);
  k.h_factor = -(thetanew / k.rho);
  const double betaacute = hat.c * k.betadd; const double betacheck = -hat.s * k.betadd;
  const double betahat = plain.c * betaacute;
  k.betadd = -plain.s * betaacute;
  const double thetatildeold = k.thetatilde;
  const plane_rotation tilde = rotation_of_numbers(k.rhodold, thetabar);
  k.thetatilde = tilde.s * k.rhobar;
  k.rhodold = tilde.c * k.rhobar;
  k.betad = -tilde.s * k.betad + tilde.c * betahat;
  k.tautildeold = (zetaold - thetatildeold * k.tautildeold) / tilde.r;
  const double taud = (k.zeta - k.thetatilde * k.tautildeold) / k.rhodold;
  k.d += betacheck * betacheck;
  k.normr = sqrt(k.d + (k.betad - taud) * (k.betad - taud) + k.betadd * k.betadd);
  k.norma2 += beta * beta;
  k.norma = sqrt(k.norma2);
  k.norma2 += alpha * alpha;
  k.maxrbar = fmax(k.maxrbar, rhobarold);
  if (k.itn > 1) k.minrbar = fmin(k.minrbar, rhobarold);
  k.conda = fmax(k.maxrbar, rhotemp) / fmin(k.minrbar, rhotemp);
  k.normar = fabs(k.zetabar);
}
__device__ inline void lsmr_numbers_test(lsmr_numbers& k, double normx) {
  if (k.status != 0) return;
  k.normx = normx;
  const double both = k.norma * k.normr;
  const double test2 = both != 0 ? k.normar / both : 1e300 * 1e10;
  k.status = least_squares_code(k.normr / k.norm_of_b, test2, 1 / k.conda, k.norma * normx / k.norm_of_b, k.atol, k.btol,
                                k.ctol, k.itn, k.most);
}

struct lsqr_numbers {
  double status; double itn; double inverse_alpha; double alpha_over_beta;
  double x_factor; double w_factor; double weight;
  double r1norm; double r2norm; double anorm; double acond; double arnorm; double xnorm;
  double damp; double atol; double btol; double ctol; double norm_of_b; double most;
  double rhobar; double phibar; double ddnorm; double res2; double xxnorm; double z; double cs2; double sn2;
  double alpha; double rho; double theta; double phi; double tau; double psi;
};
__device__ inline void lsqr_numbers_advance(lsqr_numbers& k, double alpha, double beta) {
  if (k.status != 0) return;
  if (beta > 0) {
    k.anorm = sqrt(k.anorm * k.anorm + k.alpha * k.alpha + beta * beta + k.damp * k.damp);
  } else {
    alpha = k.alpha;
  }
  k.alpha = alpha;
  k.itn += 1;
  k.inverse_alpha = alpha > 0 ? 1 / alpha : 1;
  k.alpha_over_beta = beta > 0 ? alpha / beta : alpha;
  double rhobar1 = k.rhobar;
  k.psi = 0;
  if (k.damp > 0) {
    rhobar1 = sqrt(k.rhobar * k.rhobar + k.damp * k.damp);
    k.psi = k.damp / rhobar1 * k.phibar;
    k.phibar = k.rhobar / rhobar1 * k.phibar;
  }
  const plane_rotation q = rotation_of_numbers(rhobar1, beta);
  k.rho = q.r;
  k.theta = q.s * alpha;
  k.rhobar = -q.c * alpha;
  k.phi = q.c * k.phibar;
  k.phibar = q.s * k.phibar;
  k.tau = q.s * k.phi;
  k.x_factor = k.phi / k.rho;
  k.w_factor = -k.theta / k.rho;
  k.weight = 1 / (k.rho * k.rho);
}
__device__ inline void lsqr_numbers_test(lsqr_numbers& k, double square_of_dk) {
  if (k.status != 0) return;
  const double eps = 2.220446049250313e-16;
  k.ddnorm += square_of_dk;
  const double delta = k.sn2 * k.rho; const double gambar = -k.cs2 * k.rho; const double rhs = k.phi - delta * k.z;
  const double zbar = rhs / gambar;
  k.xnorm = sqrt(k.xxnorm + zbar * zbar);
  const double gamma = sqrt(gambar * gambar + k.theta * k.theta);
  k.cs2 = gambar / gamma;
  k.sn2 = k.theta / gamma;
  k.z = rhs / gamma;
  k.xxnorm += k.z * k.z;
  k.acond = k.anorm * sqrt(k.ddnorm);
  k.res2 += k.psi * k.psi;
  k.r2norm = sqrt(k.phibar * k.phibar + k.res2);
  k.arnorm = k.alpha * fabs(k.tau);
  k.r1norm = k.r2norm;
  if (k.damp > 0) {
    const double r1sq = k.r2norm * k.r2norm - k.damp * k.damp * k.xxnorm;
    k.r1norm = r1sq < 0 ? -sqrt(-r1sq) : sqrt(r1sq);
  }
  k.status = least_squares_code(k.r2norm / k.norm_of_b, k.arnorm / (k.anorm * k.r2norm + eps), 1 / (k.acond + eps),
                                k.anorm * k.xnorm / k.norm_of_b, k.atol, k.btol, k.ctol, k.itn, k.most);
}

struct minres_numbers {
  double status; double itn; double beta; double beta_over_old; double alfa_over_beta;
  double oldeps; double delta; double inverse_gamma; double phi;
  double eps; double rtol; double most; double beta1;
  double dbar; double epsln; double phibar; double tnorm2; double gmax; double gmin; double cs; double sn; double root;
};
__device__ inline void minres_numbers_advance(minres_numbers& k, double alfa, double product) {
  if (k.status != 0) return;
  k.itn += 1;
  if (product < 0) {
    k.status = 8;
    return;
  }
  const double oldb = k.beta; const double beta = sqrt(product);
  k.beta = beta;
  k.beta_over_old = beta / oldb;
  k.tnorm2 += alfa * alfa + oldb * oldb + beta * beta;
  k.oldeps = k.epsln;
  k.delta = k.cs * k.dbar + k.sn * alfa;
  const double gbar = k.sn * k.dbar - k.cs * alfa;
  k.epsln = k.sn * beta;
  k.dbar = -k.cs * beta;
  k.root = sqrt(gbar * gbar + k.dbar * k.dbar);
  const double gamma = fmax(sqrt(gbar * gbar + beta * beta), k.eps);
  k.cs = gbar / gamma;
  k.sn = beta / gamma;
  k.phi = k.cs * k.phibar;
  k.phibar = k.sn * k.phibar;
  k.inverse_gamma = 1 / gamma;
  k.gmax = fmax(k.gmax, gamma);
  k.gmin = fmin(k.gmin, gamma);
}
__device__ inline void minres_numbers_test(minres_numbers& k, double ynorm) {
  if (k.status != 0) return;
  const double anorm = sqrt(k.tnorm2); const double both = anorm * ynorm;
  const double test1 = both == 0 ? 1e300 * 1e10 : k.phibar / both;
  const double test2 = anorm == 0 ? 1e300 * 1e10 : k.root / anorm;
  double code = 0;
  if (1 + test2 <= 1) code = 2;
  if (1 + test1 <= 1) code = 1;
  if (k.itn >= k.most) code = 6;
  if (k.gmax / k.gmin >= 0.1 / k.eps) code = 4;
  if (both * k.eps >= k.beta1) code = 3;
  if (test2 <= k.rtol) code = 2;
  if (test1 <= k.rtol) code = 1;
  if (k.itn == 1 && k.beta / k.beta1 <= 10 * k.eps) code = 5;
  k.status = code;
}
)
