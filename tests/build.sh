# Sourced by configure: build lines of the test programs. Every tests/<area>/<name>.c is a cmocka program of its own.

test_support=$(list tests/support/*.c)
compile out/obj/host "$host_isa" "$CC" "" $test_support
support_objects=$objects
for file in $(list tests/graph/*.c tests/kernels/*.c tests/planner/*.c tests/deploy/*.c tests/gen/*.c tests/runtime/*.c tests/bench/*.c tests/models/*.c); do
    compile out/obj/host "$host_isa" "$CC" "" "$file"
    program=out/test/${file#tests/}
    program=${program%.c}
    emit "build $program: link$objects$support_objects out/libingot.a $host_libs_a | $program_runtime"
    emit "  libs = -lcmocka \$host_libs"
    tests="$tests $program"
done

# GPU kernels compiled for this machine: in the tests of the CPU's, as a driver for the GPU runtime, and with planted faults.
if [ $emulates = yes ]; then
    compile out/obj/emu "$host_isa" "$CC" "-fPIC" $(list kernels_gpu/emu/block.c kernels_gpu/emu/check.c \
        kernels_gpu/emu/copy.c kernels_gpu/emu/functions.c kernels_gpu/emu/mma.c kernels_gpu/emu/traffic.c kernels_gpu/emu/watch.c kernels_gpu/emu/switch.S)
    for file in $(list kernels_gpu/cuda/*.cu tests/gpu/*.cu); do
        emit "build out/obj/emu/$file.o: emulate $src$file"
        case $file in kernels_gpu/*) objects="$objects out/obj/emu/$file.o" ;; esac
    done
    emulator_objects=$objects
    compile out/obj/emu "$host_isa" "$CC" "-fPIC" kernels_gpu/emu/driver.c
    emit "build out/emu/libcuda.so.1: link$objects$emulator_objects"
    emit "  flags = -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic"
    emit "  libs = -lm"
    compile out/obj/emu "$host_isa" "$CC" "-fPIC" tests/gpu/nvml.c
    emit "build out/emu/libnvidia-ml.so.1: link$objects"
    emit "  flags = -shared -Wl,-soname,libnvidia-ml.so.1"
    tests="$tests out/emu/libnvidia-ml.so.1"
    compile out/obj/emu "$host_isa" "$CC" "-DINGOT_HAVE_CUDA" kernels_cpu/registry.c kernels_gpu/emu/run.c
    emulator_objects="$emulator_objects$objects"
    for file in $(list tests/kernels/*.c | grep -v -e kernels/harness -e kernels/tensor -e kernels/problem -e kernels/bits); do
        op=${file##*/} op=${op%.c}
        emit "build out/test/emu/$op: link out/obj/host/$file.o$emulator_objects$support_objects out/libingot.a $host_libs_a"
        emit "  libs = -lcmocka \$host_libs"
        tests="$tests out/test/emu/$op"
    done
    compile out/obj/emu "$host_isa" "$CC" "" $(list bench/traffic/*.c bench/micro/names.c bench/micro/streams.c)
    emit "build out/bench/traffic: link$objects$emulator_objects out/libingot.a $host_libs_a"
    emit "  libs = \$host_libs"
    traffic_objects="out/obj/emu/bench/traffic/run.c.o out/obj/emu/bench/micro/names.c.o out/obj/emu/bench/micro/streams.c.o"
    compile out/obj/host "$host_isa" "$CC" "" $(list tests/gpu/*.c)
    emit "build out/test/gpu/emulator: link out/obj/host/tests/gpu/emulator.c.o out/obj/emu/tests/gpu/faults.cu.o$emulator_objects out/libingot.a $host_libs_a"
    emit "  libs = -lcmocka \$host_libs"
    emit "build out/test/gpu/emulator_kernels: link out/obj/host/tests/gpu/emulator_kernels.c.o$emulator_objects out/libingot.a $host_libs_a"
    emit "  libs = -lcmocka \$host_libs"
    emit "build out/test/gpu/reads: link out/obj/host/tests/gpu/reads.c.o$emulator_objects$support_objects out/libingot.a $host_libs_a"
    emit "  libs = -lcmocka \$host_libs"
    emit "build out/test/gpu/traffic: link out/obj/host/tests/gpu/traffic.c.o out/obj/emu/tests/gpu/traffic.cu.o$emulator_objects $traffic_objects out/libingot.a $host_libs_a"
    emit "  libs = -lcmocka \$host_libs"
    for test in bytes mma; do
        emit "build out/test/gpu/$test: link out/obj/host/tests/gpu/$test.c.o$emulator_objects out/libingot.a $host_libs_a"
        emit "  libs = -lcmocka \$host_libs"
    done
    emit "build out/test/gpu/runtime: link out/obj/host/tests/gpu/runtime.c.o out/libingot.a $host_libs_a | out/emu/libcuda.so.1"
    emit "  libs = -lcmocka \$host_libs -ldl"
    emit "build out/test/gpu/nets: link out/obj/host/tests/gpu/nets.c.o$support_objects out/libingot.a $host_libs_a | out/emu/libcuda.so.1"
    emit "  libs = -lcmocka \$host_libs -ldl"
    emit "build out/test/gpu/profile: link out/obj/host/tests/gpu/profile.c.o$support_objects out/libingot.a $host_libs_a | out/emu/libcuda.so.1"
    emit "  libs = -lcmocka \$host_libs -ldl"
    emit "build out/test/gpu/stage: link out/obj/host/tests/gpu/stage.c.o$support_objects out/libingot.a $host_libs_a | out/emu/libcuda.so.1"
    emit "  libs = -lcmocka \$host_libs -ldl"
    emit "build out/test/gpu/stage_cuts: link out/obj/host/tests/gpu/stage_cuts.c.o$support_objects out/libingot.a $host_libs_a | out/emu/libcuda.so.1"
    emit "  libs = -lcmocka \$host_libs -ldl"
    # A program for a GPU, whose kernels the emulated driver has itself; a board's, which shares its memory.
    c_board=xavier gpu_profile=
    cast "${src}models/fashion.onnx" fashion_gpu host "$plan_isa" "$CC" "" "$cores" none "" "--energy --labels ${src}models/fashion.labels.txt" "" "" \
        "62=${src}tests/gpu/image.stub ptx62=${src}tests/gpu/ptx.stub"
    c_board=
    # The same with stages: CPU, GPU, CPU.
    cast "${src}models/fashion.onnx" fashion_gpu_stages host "$plan_isa" "$CC" "" 1 none "" "--energy --labels ${src}models/fashion.labels.txt" \
        "--stages cpu:0@4,gpu@12,cpu:1" "" "62=${src}tests/gpu/image.stub"
    # And with several cuts of these, on that board.
    c_board=xavier
    cast "${src}models/fashion.onnx" fashion_gpu_cuts host "$plan_isa" "$CC" "" 1 none "" "--energy --labels ${src}models/fashion.labels.txt" \
        "--stages cpu:0@4,gpu@12,cpu:1 --alternatives 4" "" "62=${src}tests/gpu/image.stub"
    c_board=
    tests="$tests out/host/fashion_gpu_cuts out/host/libfashion_gpu_cuts.a out/host/fashion_gpu_cuts.h"
    tests="$tests out/host/fashion_gpu_stages out/host/libfashion_gpu_stages.a out/host/fashion_gpu_stages.h"
    tests="$tests out/host/fashion_gpu out/host/libfashion_gpu.a out/host/fashion_gpu.h"
    cast "${src}models/fashion.onnx" fashion_gpu_half host "$plan_isa" "$CC" "" "$cores" none "--precision half" \
        "--labels ${src}models/fashion.labels.txt" "" "" "62=${src}tests/gpu/image.stub"
    tests="$tests out/host/fashion_gpu_half"
    tests="$tests out/test/gpu/emulator out/test/gpu/emulator_kernels out/test/gpu/reads out/test/gpu/traffic out/bench/traffic out/test/gpu/bytes out/test/gpu/mma out/test/gpu/runtime out/test/gpu/nets out/test/gpu/profile out/test/gpu/stage out/test/gpu/stage_cuts out/bench/gpu out/bench/gpu_kernels"
fi

# The same under AddressSanitizer and UndefinedBehaviorSanitizer: graph, planner, kernels. kernels/harness is about faults. What they
# have in common is a library that they load, so that it is linked once.
# shellcheck disable=SC2086
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all -O1 -g1"
# Functions of many accesses call what checks these, which compiles large kernels in half the time.
called="--param=asan-instrumentation-with-call-threshold=50"
echo 'int main(void) { return 0; }' | try_cc "$CC" $called || called=
shared="-fPIC -fno-semantic-interposition"
compile out/obj/asan "$host_isa" "$CC" "$sanitize $called $shared" $(list graph/*.c graph/onnx/*.c graph/passes/*.c kernels_cpu/*.c \
    kernels_cpu/pack/*.c kernels_gpu/launch/*.c gen/*.c bench/*.c models/zoo/*.c runtime/run.c runtime/api.c runtime/team.c \
    runtime/threads.c runtime/pipeline.c runtime/frames.c $(kernel_sources "$host_isa")) $test_support
sanitized=$objects
compile out/obj/asan "$host_isa" "$CC" "$sanitize $shared -O2" $(list planner/*.c planner/deploy/*.c) # searches: most of these tests' time
sanitized="$sanitized$objects"
emit "build out/obj/asan/onnx.pb-c.o: cc out/gen/graph/onnx.pb-c.c"
emit "  flags = $sanitize -fPIC"
emit "build out/asan/libingot.so: link$sanitized out/obj/asan/onnx.pb-c.o"
emit "  flags = -shared $sanitize"
emit "  libs = \$host_libs"
for file in $(list tests/graph/*.c tests/planner/*.c tests/kernels/*.c | grep -v kernels/harness); do
    compile out/obj/asan "$host_isa" "$CC" "$sanitize -O0" "$file" # tests compile eight times as fast as by -O1
    program=out/test/asan/${file#tests/}
    program=${program%.c}
    emit "build $program: link$objects out/asan/libingot.so"
    emit "  flags = $sanitize"
    emit "  libs = -lcmocka \$host_libs"
    tests="$tests $program"
done

# The kernel contract on aarch64, static, under emulation; a small cmocka of our own stands in there. Where kernels by dot products,
# or by arithmetic on halves, are concerned the same program runs on a processor that has these, too.
if [ $cross = yes ]; then
    compile out/obj/aarch64 dotprod "$CC_AARCH64" "-march=armv8-a -I${src}tests/support/mini" \
        $(list tests/support/check.c tests/support/contract.c tests/support/guard.c tests/support/image.c tests/support/windows.c) \
        $(list kernels_cpu/registry.c kernels_cpu/problem.c kernels_cpu/pack/*.c kernels_gpu/launch/*.c graph/op.c)
    cross_support=$objects
    for file in $(list tests/kernels/*.c); do
        case $file in */tensor.c | */problem.c | */bits.c | */bits_amx.c) continue ;; esac
        compile out/obj/aarch64 dotprod "$CC_AARCH64" "-march=armv8-a -I${src}tests/support/mini" "$file"
        program=out/test/aarch64/${file#tests/}
        program=${program%.c}
        emit "build $program: link$objects$cross_support out/aarch64/libingot_kernels.a"
        emit "  cc = $CC_AARCH64"
        emit "  flags = -static"
        emit "  libs = -lm -lpthread"
        tests="$tests $program"
        case $program in */quantize | */bytes | */isa)
            emit "build out/test/dotprod/${program##*/}: copy $program"
            tests="$tests out/test/dotprod/${program##*/}" ;;
        */binary | */bits_half | */conv | */fc)
            emit "build out/test/fp16/${program##*/}: copy $program"
            tests="$tests out/test/fp16/${program##*/}" ;;
        esac
    done
fi

# What threads share, under ThreadSanitizer: the runtime and kernels of the tests' own.
thread_flags="-fsanitize=thread -O1"
compile out/obj/tsan "$host_isa" "$CC" "$thread_flags" $(list runtime/*.c)
tsan_objects=$objects
for file in $(list tests/runtime/team.c tests/runtime/pipeline.c tests/runtime/cuts.c); do
    compile out/obj/tsan "$host_isa" "$CC" "$thread_flags" "$file"
    program=out/test/tsan/${file#tests/}
    program=${program%.c}
    emit "build $program: link$objects$tsan_objects"
    emit "  flags = -fsanitize=thread"
    emit "  libs = -lcmocka -lpthread -lm"
    tests="$tests $program"
done

# The threads of a rank of a deployment, without MPI.
compile out/obj/tsan "$host_isa" "$CC" "$thread_flags" tests/mpi/threads.c tests/mpi/ranks.c runtime/mpi/flow.c runtime/mpi/worker.c
emit "build out/test/tsan/mpi/threads: link$objects$tsan_objects"
emit "  flags = -fsanitize=thread"
emit "  libs = -lcmocka -lpthread -lm"
tests="$tests out/test/tsan/mpi/threads"

compile out/obj/host "$host_isa" "$CC" "" tests/mpi/clock.c runtime/mpi/clock.c
emit "build out/test/mpi/clock: link$objects"
emit "  libs = -lcmocka"
tests="$tests out/test/mpi/clock"

# Ranks of deployments made by hand, which tests/scripts/mpi.sh starts.
if [ -n "$mpicc" ]; then
    compile out/obj/mpi "$host_isa" "$mpicc" "" tests/mpi/relay.c tests/mpi/ranks.c
    emit "build out/mpi/relay: link$objects out/host/libingot_mpi.a out/host/libingot_runtime.a"
    emit "  cc = $mpicc"
    emit "  libs = -lpthread -lm"
    tests="$tests out/mpi/relay"
fi
