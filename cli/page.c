#include "cli/page.h"

#include <string.h>

#include "cli/cli.h"
#include "runtime/host/text.h"

/* Colours: paper and ink, and five kinds of layers as metals are: steel, copper, patina, amethyst, lead. */
static const char style[] =
    ":root{color-scheme:light dark;--page:#fcfcfa;--ink:#1c1f23;--soft:#666c74;--line:#e3e4e0;--hover:#f1f1ec"
    ";--mark:#fbeecb;--k0:#3b6ea8;--k1:#b9621c;--k2:#3f8a67;--k3:#7b58a5;--k4:#a3a8ad}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#15171a;--ink:#e7e8ea;--soft:#9ba1a9;--line:#2b2e33;"
    "--hover:#1f2226;--mark:#3d3520;--k0:#79aae2;--k1:#e2975a;--k2:#74bf98;--k3:#b698dd;--k4:#767d86}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:40px clamp(16px,4vw,40px) 64px;max-width:1220px;background:var(--page);"
    "color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums;"
    "-webkit-text-size-adjust:100%}\n"
    "h1{font-size:30px;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 10px;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:19px;font-weight:620;letter-spacing:-.01em;margin:0 0 4px}\n"
    "section{margin-top:52px}\n"
    "p{margin:0 0 10px;max-width:74ch}\n"
    ".lead{font-size:17px;overflow-wrap:anywhere}\n"
    ".lead a{text-decoration:underline dotted;text-underline-offset:3px}\n"
    ".note,footer{color:var(--soft);font-size:13.5px}\n"
    "code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}\n"
    "bdi{unicode-bidi:isolate}\n"
    "a{color:inherit;text-decoration:none}\n"
    "dl{display:grid;grid-template-columns:repeat(3,1fr);gap:22px 24px;margin:28px 0 0;"
    "padding:20px 0;border:solid var(--line);border-width:1px 0}\n"
    "dt{font-size:13px;color:var(--soft)}\n"
    "dd{margin:0;font-size:24px;font-weight:560;letter-spacing:-.015em;line-height:1.3;white-space:nowrap}\n"
    "dd span{font-size:14px;font-weight:400;color:var(--soft);letter-spacing:0;margin-left:.3em}\n"
    "dd+dd{font-size:13px;font-weight:400;color:var(--soft);letter-spacing:0;white-space:normal}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));column-gap:48px}\n"
    ".pair section{max-width:720px;min-width:0}\n"
    "svg{display:block;width:100%;height:auto;margin:12px 0 8px;overflow:visible}\n"
    "svg text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--soft);"
    "paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}\n"
    "svg .dot{fill:var(--k);fill-opacity:.8;stroke:var(--page)}\n"
    "svg .dot:hover{fill-opacity:1;stroke:var(--ink)}\n"
    "svg .roof{stroke:var(--ink);stroke-width:1.5;fill:none}\n"
    "svg .cache{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 4;fill:none}\n"
    "svg .front{stroke:var(--k0);stroke-width:1.5;fill:none}\n"
    "svg .chosen{fill:var(--k1);stroke:var(--page);stroke-width:2}\n"
    "svg .second{stroke:var(--k1);stroke-width:1.5;fill:none}\n"
    "svg .frame{fill:var(--k)}svg .frame:hover{opacity:.75}\n"
    "svg text.in{fill:var(--page);stroke:none;pointer-events:none}\n"
    "svg .held{stroke:var(--ink);stroke-width:1.5}\n"
    "svg .block{stroke:var(--page);opacity:.9}\n"
    ".k0{--k:var(--k0)}.k1{--k:var(--k1)}.k2{--k:var(--k2)}.k3{--k:var(--k3)}.k4{--k:var(--k4)}\n"
    ".strip{display:flex;height:34px;margin:14px 0 10px;border-radius:4px;overflow:hidden;"
    "background:var(--line)}\n"
    ".strip a{background:var(--k);min-width:0;box-shadow:inset -.5px 0 var(--page)}\n"
    ".strip a:hover{opacity:.7}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 22px;margin:0;padding:0;list-style:none;font-size:13.5px}\n"
    ".legend li:before,.name:before{content:'';display:inline-block;width:9px;height:9px;border-radius:2px;"
    "background:var(--k);margin-right:8px}\n"
    ".legend span{color:var(--soft);margin-left:6px}\n"
    ".scroll{overflow-x:auto;margin:12px 0 0}\n"
    "table{border-collapse:separate;border-spacing:0;width:100%;font-size:13.5px;line-height:1.35}\n"
    "th,td{padding:6px 0 6px 16px;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "th{font-weight:500;color:var(--soft);vertical-align:bottom;font-size:12.5px}\n"
    "th button{all:unset;cursor:pointer}\n"
    "th button:hover,th[aria-sort] button{color:var(--ink)}\n"
    "th button:focus-visible{outline:2px solid var(--k0);outline-offset:2px}\n"
    "th[aria-sort=ascending] button:after{content:' \\2191'}\n"
    "th[aria-sort=descending] button:after{content:' \\2193'}\n"
    ".n{text-align:right}\n"
    "td.n+td.n{min-width:52px}\n"
    "tr>:first-child{padding-left:4px;color:var(--soft);font-size:12.5px}\n"
    "td.name{position:sticky;left:0;background:var(--page)}\n"
    ".name span{display:inline-block;max-width:250px;overflow:hidden;text-overflow:ellipsis;direction:rtl;"
    "vertical-align:bottom}\n"
    "tbody tr:hover td{background:var(--hover)}\n"
    "tr:target td{background:var(--mark)}\n"
    "tr.view td{color:var(--soft)}\n"
    ".bar{display:inline-block;width:64px;height:8px;margin-right:10px;text-align:left;vertical-align:1px}\n"
    ".bar i{display:block;height:100%;background:var(--k);border-radius:1px;min-width:1px}\n"
    "footer{margin-top:64px;padding-top:16px;border-top:1px solid var(--line);overflow-wrap:anywhere}\n"
    "@media(min-width:1020px){dl{grid-template-columns:repeat(6,auto)}}\n"
    "@media(max-width:640px){body{padding-top:24px}h1{font-size:25px}.lead{font-size:16px}"
    "section{margin-top:40px}"
    "dl{grid-template-columns:1fr 1fr;gap:18px 16px}dd{font-size:20px}svg text{font-size:18px}"
    "svg.wide text{font-size:30px}svg .dot{r:7px}svg .chosen{r:10px}"
    ".strip a{box-shadow:none}.name span{max-width:130px}.bar{width:48px}}\n"
    "@media print{body{max-width:none;padding:0}.scroll{overflow:visible}}\n";

static const char script[] =
    "for (const table of document.querySelectorAll('table')) {\n"
    "  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];\n"
    "  const key = (row, i) => {\n"
    "    const c = row.cells[i], v = c.dataset.v;\n"
    "    return v === undefined ? c.textContent : +v;\n"
    "  };\n"
    "  heads.forEach((head, i) => head.firstElementChild.addEventListener('click', () => {\n"
    "    const was = head.getAttribute('aria-sort');\n"
    "    const down = was ? was === 'ascending' : head.dataset.down === '1';\n"
    "    heads.forEach(h => h.removeAttribute('aria-sort'));\n"
    "    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "    const order = (a, b) => typeof a === 'number' ? a - b : a.localeCompare(b);\n"
    "    body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * order(key(a, i), key(b, i))));\n"
    "  }));\n"
    "}\n";

static const char *entity(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void ig_xml_text(FILE *f, const char *s)
{
    while (*s) {
        int n = ig_utf8_bytes(s);
        /* U+FFFE and U+FFFF are characters to UTF-8, but none to XML. */
        int none = n == 3 && (!memcmp(s, "\xef\xbf\xbe", 3) || !memcmp(s, "\xef\xbf\xbf", 3));
        if (!n || none) fputs("\xef\xbf\xbd", f);
        else if (entity(*s)) fputs(entity(*s), f);
        else if ((unsigned char)*s < 32 || *s == 127) fputc('.', f);
        else fwrite(s, 1, (size_t)n, f);
        s += n ? n : 1;
    }
}

void ig_page_open(FILE *f, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>",
          f);
    ig_xml_text(f, title);
    fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

void ig_page_close(FILE *f)
{
    fprintf(f, "<script>\n%s</script>\n</body>\n</html>\n", script);
}

void ig_section_open(FILE *f, const char *id, const char *heading)
{
    fprintf(f, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
}

void ig_section_close(FILE *f)
{
    fputs("</section>\n", f);
}

void ig_table_open(FILE *f, const char *id, const struct ig_column *columns, int32_t n)
{
    fprintf(f, "<div class=\"scroll\"><table id=\"%s\">\n<thead><tr>", id);
    for (int32_t i = 0; i < n; i++)
        fprintf(f, "<th%s><button>%s</button></th>", columns[i].number ? " class=\"n\" data-down=\"1\"" : "",
                columns[i].title);
    fputs("</tr></thead>\n<tbody>\n", f);
}

void ig_table_close(FILE *f)
{
    fputs("</tbody>\n</table></div>\n", f);
}

const char *ig_decimal(double x, int decimals, char text[80])
{
    char whole[32], digits[40];
    snprintf(digits, sizeof digits, "%.*f", decimals, x < 1e15 ? x : 1e15);
    const char *rest = strchr(digits, '.');
    long long n = 0;
    sscanf(digits, "%lld", &n);
    snprintf(text, 80, "%s%s", ig_commas(n, whole), rest ? rest : "");
    return text;
}

void ig_number_cell(FILE *f, double x, int decimals)
{
    char text[80];
    if (x > 0) fprintf(f, "<td class=\"n\" data-v=\"%.9g\">%s</td>", x, ig_decimal(x, decimals, text));
    else fputs("<td class=\"n\" data-v=\"0\"></td>", f);
}
