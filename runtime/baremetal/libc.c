/* What compilers and kernels expect of a C library, for targets that have none, beside runtime/libc/copy.c. */
#include <stddef.h>
#include <stdint.h>

int memcmp(const void *a, const void *b, size_t n);
double exp(double x);
double log(double x);
float expf(float x);
float logf(float x);
double pow(double x, double y);
float powf(float x, float y);
double tanh(double x);
float tanhf(float x);
double log1p(double x);
double floor(double x);
float floorf(float x);
double ceil(double x);
float ceilf(float x);
double rint(double x);
double fabs(double x);
double sqrt(double x);
double fmin(double x, double y);
double fmax(double x, double y);
double fmod(double x, double y);
double erf(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double atan(double x);
double asin(double x);
double acos(double x);
double sinh(double x);
double cosh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n--; x++, y++)
        if (*x != *y) return *x - *y;
    return 0;
}

static double power_of_two(int64_t e)
{
    union {
        uint64_t bits;
        double value;
    } u = {(uint64_t)(e + 1023) << 52};
    return e < -1022 ? 0 : e > 1023 ? (double)__builtin_inf() : u.value;
}

/* e^x = 2^k e^r with |r| <= ln2/2; Taylor to r^13 leaves less than 1e-16. */
double exp(double x)
{
    if (x != x) return x;
    if (x > 709.7) return __builtin_inf();
    if (x < -745) return 0;
    double k = (double)(int64_t)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    double r = x - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10, sum = 1;
    for (int i = 13; i > 0; i--) sum = 1 + r * sum / i;
    return sum * power_of_two((int64_t)k / 2) * power_of_two((int64_t)k - (int64_t)k / 2);
}

/* ln x = k ln 2 + 2 artanh((m - 1)/(m + 1)) with m in [sqrt(1/2), sqrt 2). */
double log(double x)
{
    union {
        double value;
        uint64_t bits;
    } u = {x};
    if (x != x || x < 0) return __builtin_nan("");
    if (x == 0) return -__builtin_inf();
    if (x == __builtin_inf()) return x;
    int64_t k = (int64_t)(u.bits >> 52) - 1023;
    u.bits = (u.bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    if (u.value > 1.4142135623730951) u.value *= 0.5, k++;
    double s = (u.value - 1) / (u.value + 1), s2 = s * s, sum = 0;
    for (int i = 23; i > 0; i -= 2) sum = sum * s2 + 1.0 / i;
    return 2 * s * sum + (double)k * 0.6931471805599453;
}

float expf(float x)
{
    return (float)exp((double)x);
}

float logf(float x)
{
    return (float)log((double)x);
}

double pow(double x, double y)
{
    int odd = (double)(int64_t)y == y && ((int64_t)y & 1);
    if (y == 0) return 1;
    if (x == 0) return y > 0 ? 0 : __builtin_inf();
    if (x < 0) return (double)(int64_t)y != y ? __builtin_nan("") : odd ? -exp(y * log(-x)) : exp(y * log(-x));
    return exp(y * log(x));
}

float powf(float x, float y)
{
    return (float)pow((double)x, (double)y);
}

double tanh(double x)
{
    double a = x < 0 ? -x : x, e = exp(-2 * a), t = (1 - e) / (1 + e);
    return x < 0 ? -t : t;
}

float tanhf(float x)
{
    return (float)tanh((double)x);
}

double log1p(double x)
{
    return x < 1e-5 && x > -1e-5 ? x - x * x / 2 : log(1 + x);
}

double floor(double x)
{
    return __builtin_floor(x);
}

float floorf(float x)
{
    return __builtin_floorf(x);
}

double ceil(double x)
{
    return __builtin_ceil(x);
}

float ceilf(float x)
{
    return __builtin_ceilf(x);
}

double rint(double x)
{
    return __builtin_rint(x);
}

double fabs(double x)
{
    return __builtin_fabs(x);
}

double sqrt(double x)
{
    return __builtin_sqrt(x);
}

double fmin(double x, double y)
{
    return x < y || y != y ? x : y;
}

double fmax(double x, double y)
{
    return x > y || y != y ? x : y;
}

/* Exact: y's doubles up to x are taken off from the largest down. */
double fmod(double x, double y)
{
    double a = fabs(x), b = fabs(y), t = b;
    if (a - a != 0 || b != b || b == 0) return __builtin_nan("");
    while (t <= a / 2) t *= 2;
    for (; t >= b && a >= b; t /= 2)
        if (a >= t) a -= t;
    return __builtin_copysign(a, x);
}

/* 2/sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 3 5 .. 2n+1): no term is negative. */
double erf(double x)
{
    double square = x * x, term = x, sum = x;
    if (square > 36) return x < 0 ? -1 : 1;
    for (int n = 1; n < 200; n++) sum += term *= 2 * square / (2 * n + 1);
    return 1.1283791670955126 * exp(-square) * sum;
}

/* sin(x + turn pi/2): Taylor about a multiple of pi/2 that lies within pi/4; x beyond 10^12 is too far for that. */
static double sine(double x, int64_t turn)
{
    if (!(fabs(x) < 1e12)) return x - x;
    double k = rint(x * 0.63661977236758134);
    double r = __builtin_fma(-k, 6.07710050650619224932e-11, __builtin_fma(-k, 1.57079632673412561417e+00, x));
    double sum = 1, square = r * r;
    turn += (int64_t)k;
    for (int i = 18 - !(turn & 1); i > 1; i -= 2) sum = 1 - sum * square / (i * (i - 1));
    if (!(turn & 1)) sum *= r;
    return turn & 2 ? -sum : sum;
}

double sin(double x)
{
    return x == 0 ? x : sine(x, 0);
}

double cos(double x)
{
    return sine(x, 1);
}

double tan(double x)
{
    return sin(x) / cos(x);
}

/* The angle is halved twice, then Taylor. */
double atan(double x)
{
    double a = fabs(x), t = a > 1 ? 1 / a : a, sum = 0;
    for (int i = 0; i < 2; i++) t /= 1 + sqrt(1 + t * t);
    for (int i = 25; i > 0; i -= 2) sum = 1.0 / i - sum * t * t;
    sum *= 4 * t;
    return __builtin_copysign(a > 1 ? 1.5707963267948966 - sum : sum, x);
}

double asin(double x)
{
    return atan(x / sqrt((1 - x) * (1 + x)));
}

double acos(double x)
{
    return 1.5707963267948966 - asin(x);
}

/* The odd ones are their series' first terms near 0, where differences would cancel. */
static int is_small(double x)
{
    return fabs(x) < 1e-4;
}

double sinh(double x)
{
    return is_small(x) ? x + x * x * x / 6 : (exp(x) - exp(-x)) / 2;
}

double cosh(double x)
{
    return (exp(x) + exp(-x)) / 2;
}

double asinh(double x)
{
    double a = fabs(x);
    return is_small(x) ? x - x * x * x / 6 : __builtin_copysign(log(a + sqrt(a * a + 1)), x);
}

double acosh(double x)
{
    return log(x + sqrt((x - 1) * (x + 1)));
}

double atanh(double x)
{
    return is_small(x) ? x + x * x * x / 3 : log((1 + x) / (1 - x)) / 2;
}
