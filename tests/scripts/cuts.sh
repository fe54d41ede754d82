# A program and a library that carry several cuts: the results of one without stages, and words about the cuts.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"

builds() {
    staged_program --stages cpu:0,cpu:1 --alternatives 5
}

words() { # how many there are, in text and JSON, and how often each ran
    [ "$("$work/program" --info | grep -c '^alternative [0-9]: .*ms$')" = 5 ] &&
        [ "$("$work/program" --info --json | sed 's/"pipeline".*//' | grep -o '"stages":' | wc -l)" = 5 ] &&
        "$work/program" --info | grep -q '^  slot several  *stage 0 to stage 1 ' &&
        [ "$(out/ingot inspect --stages "$net.json" "$net.plan.json" | grep -c '^alternative [0-9]: 2 stages')" = 4 ] &&
        "$work/program" --bench=0.2 >"$work/bench" && [ "$(grep -c ', ran [0-9]* times$' "$work/bench")" = 5 ] &&
        grep -q 'switches between alternatives$' "$work/bench" &&
        "$work/program" --bench=0.2 --json | grep -q '^{"alternative_switches":[0-9]*,"alternatives":\[{"ran":[1-9]'
}

trace() {
    "$work/program" --trace "$work/trace.json" && [ "$(grep -c '"ph":"X"' "$work/trace.json")" = 48 ]
}

summary() {
    out/ingot plan --summary "$net.json" "$net.plan.json" | grep -q '^5 alternatives in one arena'
}

wrong() { # an alternative on other cores, one without stages
    awk '/"processor":"cpu:1"/ && !n++ {sub(/cpu:1/, "cpu:6")} {print}' "$net.plan.json" >"$work/bad.json"
    ! out/ingot gen "$net.json" "$work/bad.json" --prefix bad -o "$work" 2>"$work/err" && grep -q 'alternative 1: its stages' "$work/err" &&
        ! out/ingot plan "$net.json" --threads 1 --alternatives 3 -o "$work/none.json" 2>"$work/err" && grep -q 'needs --stages' "$work/err"
}

alone() { # nothing of all this in a program of one cut
    out/ingot plan "$net.json" --threads 1 --stages cpu:0,cpu:1 -o "$work/one.plan.json" && mkdir -p "$work/one" &&
        out/ingot gen "$net.json" "$work/one.plan.json" --prefix net -o "$work/one" && ! grep -q cuts "$work/one"/net_*.[ch]
}

library() {
    cc=${CC:-cc}
    $cc -std=c11 -Wall -Wextra -Werror -O2 -I"$SRCDIR" -I"$work" -c "${net}_api.c" -o "${net}_api.o" &&
        $cc -std=c11 -Wall -Wextra -O2 -I"$work" -c "$SRCDIR/tests/library/stages.c" -o "$work/client.o" &&
        $cc "$work/client.o" "${net}_api.o" "${net}_plan.o" "${net}_weights.o" out/host/libingot_runtime.a \
            out/host/libingot_kernels.a -lm -lpthread -o "$work/client" && "$work/client" | grep -q 'not now'
}

check "a network with five cuts is built" builds
check "every frame has the result of a run without stages" same_results
check "--info and --bench say which cuts there are and how often each ran" words
check "a trace of it" trace
check "a plan's summary counts them" summary
check "wrong ones are refused" wrong
check "a program of one cut knows nothing of them" alone
check "the library has the same results" library
finish
