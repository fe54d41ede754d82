#include "cli/chart.h"

#include <math.h>

enum { MOST_TICKS = 16 };

static double part(double v, double low, double high, int is_log)
{
    return is_log ? log(v / low) / log(high / low) : (v - low) / (high - low);
}

double ig_chart_x(const struct ig_chart *c, double x)
{
    return c->left + part(x, c->x0, c->x1, c->log_x) * (c->width - c->left - c->right);
}

double ig_chart_y(const struct ig_chart *c, double y)
{
    return c->height - c->bottom - part(y, c->y0, c->y1, c->log_y) * (c->height - c->top - c->bottom);
}

void ig_chart_open(const struct ig_chart *c, const char *class_name, const char *label)
{
    fprintf(c->f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
            "aria-label=\"%s\" font-family=\"sans-serif\" font-size=\"12\">\n",
            class_name, c->width, c->height, label);
}

void ig_chart_close(const struct ig_chart *c)
{
    fputs("</svg>\n", c->f);
}

/* Powers of ten; where there is not even one step of ten, 2 and 5 times them too. */
static int log_ticks(double low, double high, double *at)
{
    static const double within[] = {1, 2, 5};
    int n = 0, fine = high / low < 100, every = 1 + (int)(log10(high / low) / 7);
    for (int e = (int)floor(log10(low)); e <= (int)ceil(log10(high)); e++)
        for (int k = 0; k < (fine ? 3 : 1); k++) {
            double v = within[k] * pow(10, e);
            if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9) && n < MOST_TICKS && e % every == 0)
                at[n++] = v;
        }
    return n;
}

/* Some five round numbers. */
static int linear_ticks(double low, double high, double *at)
{
    double step = pow(10, floor(log10((high - low) / 4)));
    int n = 0;
    if ((high - low) / step > 10) step *= 5;
    else if ((high - low) / step > 5) step *= 2;
    for (double k = ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && n < MOST_TICKS; k++)
        at[n++] = k * step;
    return n;
}

static void tick_text(FILE *f, double v)
{
    double size = fabs(v);
    if (size <= 0) v = 0; /* not -0 */
    if (size >= 1e9) fprintf(f, "%.6gG", v * 1e-9);
    else if (size >= 1e6) fprintf(f, "%.6gM", v * 1e-6);
    else if (size >= 1e4) fprintf(f, "%.6gk", v * 1e-3);
    else fprintf(f, "%.6g", v);
}

static void grid_line(FILE *f, double x0, double y0, double x1, double y1)
{
    fprintf(f, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"currentColor\" stroke-opacity=\".13\"/>", x0, y0,
            x1, y1);
}

static void text(FILE *f, double x, double y, const char *anchor)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"currentColor\">", x, y, anchor);
}

void ig_chart_x_axis(const struct ig_chart *c, const char *x_name)
{
    double at[MOST_TICKS], low = c->height - c->bottom, end = c->width - c->right;
    int n = c->log_x ? log_ticks(c->x0, c->x1, at) : linear_ticks(c->x0, c->x1, at);
    for (int i = 0; i < n; i++) {
        double x = ig_chart_x(c, at[i]);
        grid_line(c->f, x, c->top, x, low);
        text(c->f, x, low + c->bottom * 0.4, "middle");
        tick_text(c->f, at[i]);
        fputs("</text>\n", c->f);
    }
    text(c->f, end, c->height - c->bottom * 0.1, "end");
    fprintf(c->f, "%s</text>\n", x_name);
}

void ig_chart_axes(const struct ig_chart *c, const char *x_name, const char *y_name)
{
    double at[MOST_TICKS], end = c->width - c->right;
    ig_chart_x_axis(c, x_name);
    int n = c->log_y ? log_ticks(c->y0, c->y1, at) : linear_ticks(c->y0, c->y1, at);
    for (int i = 0; i < n; i++) {
        double y = ig_chart_y(c, at[i]);
        grid_line(c->f, c->left, y, end, y);
        text(c->f, c->left - 8, y + 4, "end");
        tick_text(c->f, at[i]);
        fputs("</text>\n", c->f);
    }
    text(c->f, 0, c->top * 0.45, "start");
    fprintf(c->f, "%s</text>\n", y_name);
}
