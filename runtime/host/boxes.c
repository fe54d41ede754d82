#include "runtime/host/boxes.h"

#include "runtime/host/spec.h"

int ig_boxes_find(const struct ig_session *s, struct ig_pick picks[IG_MAX_TOP], int most)
{
    const struct ig_boxes *b = s->program->spec->boxes;
    return ig_nms(&b->nms, s->outputs[b->boxes], s->outputs[b->scores], b->left, picks, most);
}

static void put_text(const struct ig_program *p, const struct ig_pick *pick, const float *box)
{
    if (pick->of < p->n_labels) printf("%s", p->labels[pick->of]);
    else printf("#%d", pick->of);
    printf(" %.4g [%.6g %.6g %.6g %.6g]", (double)pick->score, (double)box[0], (double)box[1], (double)box[2],
           (double)box[3]);
}

static void put_json(const struct ig_program *p, const struct ig_pick *pick, const float *box)
{
    fputs("{\"box\":[", stdout);
    for (int i = 0; i < 4; i++) {
        if (i) putchar(',');
        ig_json_number(stdout, (double)box[i]);
    }
    printf("],\"class\":%d,\"index\":%d,\"label\":", pick->of, pick->box);
    if (pick->of < p->n_labels) ig_json_string(stdout, p->labels[pick->of]);
    else fputs("null", stdout);
    fputs(",\"score\":", stdout);
    ig_json_number(stdout, (double)pick->score);
    putchar('}');
}

void ig_boxes_print(const struct ig_session *s, const struct ig_options *o, double ms)
{
    const struct ig_program *p = s->program;
    struct ig_pick picks[IG_MAX_TOP];
    int n = ig_boxes_find(s, picks, o->top);
    if (o->json) fputs("{\"boxes\":[", stdout);
    for (int i = 0; i < n; i++) {
        const float *box = (const float *)s->outputs[p->spec->boxes->boxes] + 4 * picks[i].box;
        if (i) fputs(o->json ? "," : " | ", stdout);
        if (o->json) put_json(p, &picks[i], box);
        else put_text(p, &picks[i], box);
    }
    if (o->json) printf("],\"ms\":%.4f", ms);
    if (o->json && s->network) printf(",\"network\":\"%s\"", s->network);
    puts(o->json ? "}" : n ? "" : "nothing");
}
