/* The frame of a page of HTML that stands alone: style for light and dark, a script that sorts, escaped text. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdint.h>
#include <stdio.h>

/* Text for HTML and XML, between tags or quotes. What is not UTF-8 is U+FFFD, control characters are dots. */
void ig_xml_text(FILE *f, const char *s);

void ig_page_open(FILE *f, const char *title);
void ig_page_close(FILE *f);
/* <section> with a heading; ig_section_close ends it. `id` is where links to it go. */
void ig_section_open(FILE *f, const char *id, const char *heading);
void ig_section_close(FILE *f);

struct ig_column {
    const char *title;
    int number;          /* 1: right-aligned, and sorted from the largest */
};
/* <table> that a click on a heading sorts, up to <tbody>. A cell with data-v sorts by that number. */
void ig_table_open(FILE *f, const char *id, const struct ig_column *columns, int32_t n);
void ig_table_close(FILE *f);
/* <td> of a number with so many decimals, thousands set apart; empty where it is not above 0. */
void ig_number_cell(FILE *f, double x, int decimals);
/* "12,345.6" */
const char *ig_decimal(double x, int decimals, char text[80]);

#endif
