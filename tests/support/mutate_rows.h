/* Mutations of how rows are made: each returns the one verdict that it must get, 0 where the plan has nothing of the kind. */
#ifndef TESTS_SUPPORT_MUTATE_ROWS_H
#define TESTS_SUPPORT_MUTATE_ROWS_H

#include "tests/support/mutate.h"

/* A step of q that runs something, or NULL. */
struct ig_plan_step *any_kernel_step(struct subject *s);

/* A step has fewer pieces. */
int lost_piece(struct subject *s);
/* As many as before, but smaller than what they share out needs. */
int short_pieces(struct subject *s);
/* Each piece is the whole. */
int whole_pieces(struct subject *s);
/* A band with a tensor that stays besides the last one's is cut: every piece makes that tensor from its first row on. */
int cut_keeping_band(struct subject *s);
/* A member of a band stands before the one that it reads. */
int swapped_members(struct subject *s);

#endif
