/* The frame of a chart in SVG: its picture, axes and grid, in the current colour, so that it suits any page. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdio.h>

struct ig_chart {
    FILE *f;
    double width, height;            /* of the picture */
    double left, right, top, bottom; /* its margins */
    double x0, x1, y0, y1;           /* what the axes span, x0 < x1, y0 < y1 */
    int log_x, log_y;                /* 1: logarithmic; then x0, y0 > 0 */
};

/* Where a value is in the picture. */
double ig_chart_x(const struct ig_chart *c, double x);
double ig_chart_y(const struct ig_chart *c, double y);
/* <svg> of that class, with what it shows in a few words. */
void ig_chart_open(const struct ig_chart *c, const char *class_name, const char *label);
/* Grid, ticks and the names of the axes, units included; the x axis alone, where y is not a number. */
void ig_chart_x_axis(const struct ig_chart *c, const char *x_name);
void ig_chart_axes(const struct ig_chart *c, const char *x_name, const char *y_name);
void ig_chart_close(const struct ig_chart *c);

#endif
