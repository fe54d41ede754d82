# Sourced by configure: programs with a GPU. Which CUDA toolkit makes code for which chip, and the build lines.

# --- toolkits: sets $gpu_parts, "62,72=@0 90=@1": chips, and the number of the toolkit whose command is $nvcc_0, $nvcc_1, ... ---

gpu_sources='kernels_gpu/*.cu kernels_gpu/params*.h kernels_gpu/cuda/*.cu kernels_gpu/cuda/*.cuh graph/op.h graph/tensor.h' # of a module
gpu_most='62 72 75 80 87 90' # where nothing is asked for and there is no GPU to ask

toolkits() { # a line each: the compiler
    if [ -n "$nvcc" ]; then
        command -v "$nvcc" || true
        return
    fi
    for tool in $(command -v nvcc) /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc /opt/cuda*/bin/nvcc /usr/lib/nvidia-cuda-toolkit/bin/nvcc; do
        [ -x "$tool" ] || continue
        called=$(sed -n '1{/^#!/!q;}; s|^exec \(/[^ ]*/nvcc\) .*|\1|p' "$tool") # of a script that calls it, as Debian's /usr/bin/nvcc
        [ ! -x "$called" ] || tool=$called
        echo "$(cd "$(dirname "$tool")" && pwd -P)/nvcc"
    done | awk '!seen[$0]++'
}

nvcc_command() { # compiler: how it is called here, so that it takes the C++ compiler, which only preprocesses; nothing if none
    # Debian's has its headers in /usr/include, after those that another toolkit may have left in /usr/local/include.
    printf '%s\n' '#if CUDART_VERSION / 1000 != __CUDACC_VER_MAJOR__' '#error "another toolkit has its headers before these"' '#endif' \
        '__global__ void empty() {}' >out/try.cu
    where=$(dirname "$1")
    case $where in /usr/lib/*) where=$where:/usr/bin ;; esac
    for option in '' '-ccbin clang++' -allow-unsupported-compiler '-ccbin clang++ -allow-unsupported-compiler'; do
        # Debian's finds its parts, which are in /usr/bin, by PATH, where another toolkit may come first.
        line="env PATH=$where:\$PATH $1${option:+ $option}"
        if eval "$line -std=c++14 -E -o out/try.ii out/try.cu" >>config.log 2>&1; then
            echo "$line"
            break
        fi
    done
    rm -f out/try.cu out/try.ii
}

chips_of() { # the command: chips that it makes code for; 10.2 cannot list them
    eval "$1 --list-gpu-code" 2>>config.log | sed -n 's/^sm_\([0-9]*\)$/\1/p' | grep . && return
    echo '__global__ void empty() {}' >out/try.cu
    for sm in $gpu_most $(echo "$gpu" | tr , ' ' | sed 's/sm_//g; s/default\|auto//'); do
        ! eval "$1 -cubin -arch=sm_$sm -o out/try.cubin out/try.cu" >>config.log 2>&1 || echo "$sm"
    done | sort -un
    rm -f out/try.cu out/try.cubin
}

gpus_here() { # chips of this machine's GPUs
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -un | grep -x '[0-9][0-9]*'
}

wanted_chips() {
    case $gpu:$target in
    default:tx2 | auto:tx2) echo 62 ;;
    default:xavier | auto:xavier) echo 72 ;;
    default:host) if gpus_here >/dev/null; then { gpus_here; echo "$board_chips"; } | tr ' ' '\n' | grep . | sort -un; else echo any; fi ;;
    default:*) echo any ;;
    *) echo "$gpu" | tr , '\n' | sed 's/^sm_//' ;;
    esac
}

take_chips() { # number and command of a toolkit, its chips: what of $left it makes
    took= still=
    for sm in $left; do
        if echo "$3" | grep -qx "$sm"; then took=$took${took:+,}$sm; else still="$still $sm"; fi
    done
    left=$still
    [ -z "$took" ] || gpu_parts="$gpu_parts${gpu_parts:+ }$took=@$1"
}

find_toolkits() {
    case $gpu in default | auto) ;; *[!0-9sm_,]* | ,* | *, | '') die "--gpu takes chips such as sm_62,sm_72, not '$gpu'" ;; esac
    left=$(wanted_chips) gpu_parts= toolkit=0 known=
    any=
    [ "$left" != any ] || left=$gpu_most any=1
    for tool in $(toolkits); do
        line=$(nvcc_command "$tool")
        [ -n "$line" ] || { answer "CUDA toolkit" "$tool works with no C++ compiler here, or finds the headers of another toolkit: see config.log"; continue; }
        chips=$(chips_of "$line")
        answer "CUDA toolkit" "$tool: $(echo $chips | sed 's/[0-9]*/sm_&/g')"
        known=$known${known:+ }$(echo $chips)
        take_chips $toolkit "$line" "$chips"
        # The build file takes a dollar twice.
        eval "nvcc_$toolkit=\$(printf %s \"\$line\" | sed 's/\\\$/\$\$/g')"
        toolkit=$((toolkit + 1))
    done
    if [ "$gpu" = auto ] && [ -n "$left" ]; then
        answer "GPU code" "none: no CUDA toolkit for$(echo " $left" | sed 's/ *\([0-9][0-9]*\)/ sm_\1/g') here (11.8 is one${nvcc:+; $nvcc is none}), so that the program is the CPU's alone"
        gpu=
        return
    fi
    if [ -z "$known" ]; then
        die "--gpu needs a CUDA toolkit 10.2 to 13: apt-get install nvidia-cuda-toolkit, or give --nvcc=PATH${nvcc:+ ($nvcc is none)}"
    fi
    [ -n "$any" ] || [ -z "$left" ] ||
        die "--gpu: no code for$(echo " $left" | sed 's/ *\([0-9][0-9]*\)/ sm_\1/g') from the CUDA toolkits here (see above); install one that knows it (11.8 knows sm_62 to sm_90), or give --nvcc=PATH"
    [ -n "$gpu_parts" ] || die "--gpu: the CUDA toolkits here make no code for$(echo " $gpu_most" | sed 's/ / sm_/g'); name the chips: --gpu=sm_XX"
    answer "GPU code" "$(echo "$gpu_parts" | sed 's/=@[0-9]*//g; s/[ ,]/\n/g' | sort -un | sed 's/^/sm_/' | tr '\n' ' ')"
}

# --- build lines, inside cast, whose last argument $c_gpu is: $gpu_parts, or names of files in place of fatbins, "62=FILE" ---

gpu_buffers() { # options that say whose memory the GPU's is, $c_board: of targets that do not say so; and its least chip
    least=$(for part in $c_gpu; do case $part in ptx*) ;; *) echo "${part%%=*}" | tr , '\n' ;; esac; done | sort -n | head -1)
    case $c_target in
    tx2 | xavier) echo " --buffers $c_target${least:+ --sm $least}" ;;
    *) echo "${c_board:+ --buffers $c_board}${least:+ --sm $least}" ;;
    esac
}

made_kernels=
kernels_fatbin() { # target, chips, number of the toolkit: sets $fatbin, all kernels for these chips
    fatbin=out/$1/kernels.sm_$(echo "$2" | tr , _).fatbin
    case " $made_kernels " in *" $fatbin "*) return 0 ;; esac
    made_kernels="$made_kernels $fatbin"
    emit "build $fatbin: nvcc ${src}kernels_gpu/module.cu | $(list $gpu_sources | sed "s|^|$src|" | tr '\n' ' ')"
    emit "  nvcc = $(eval "echo \"\$nvcc_$3\"")"
    emit "  chips =$(for sm in $(echo "$2" | tr , ' '); do printf ' -gencode arch=compute_%s,code=sm_%s' "$sm" "$sm"; done)"
}

ptx() { # file, of which source, chip, number of the toolkit: for drivers older than the toolkit
    emit "build $1: ptx $2 | ${src}gen/ptx.sh $(list $gpu_sources | sed "s|^|$src|" | tr '\n' ' ')"
    emit "  nvcc = $(eval "echo \"\$nvcc_$4\"")"
    emit "  sm = $3"
}

kernels_ptx() { # target, chip, number of the toolkit: sets $fatbin to all kernels as PTX
    fatbin=out/$1/kernels.compute_$2.ptx
    ptx "$fatbin" "${src}kernels_gpu/module.cu" "$2" "$3"
}

gpu_profile_of() { # sets $timed, the profile of the GPU's plan: the one that was given, or where this machine has the GPU one taken here
    timed=$gpu_profile
    [ -z "$timed$no_profile" ] && [ "$c_target" = host ] || return 0
    for part in $c_gpu; do
        chips=${part%%=*} tool=${part#*=}
        case $tool in @*) ;; *) continue ;; esac
        for sm in $(gpus_here | head -1); do
            case ,$chips, in *,$sm,*) ;; *) continue ;; esac
            timed=$d/gpu_profile.json
            kernels_fatbin "$c_target" "$sm" "${tool#@}"
            emit "build $timed: profile $g | $fatbin out/ingot || $d/options.ok"
            emit "  args = --gpu $fatbin"
        done
    done
}

old_chip() { # of $c_gpu: the least chip whose boards' drivers are of CUDA 10.2, as JetPack 4 has them, and its toolkit: "62 @0"
    for part in $c_gpu; do
        case $part in *=@*) ;; *) continue ;; esac
        for sm in $(echo "${part%%=*}" | tr , ' '); do [ "$sm" -ge 75 ] || echo "$sm ${part#*=}"; done
    done | sort -n | head -1
}

gpu_plan() { # arguments of the plan that concern it; $timed: its profile
    staged=
    case $c_plan in *--stages*) staged=1 ;; esac
    emit "build $d/gpu_plan.json: plan $g | out/ingot${staged:+ $p}${timed:+ $timed}"
    emit "  graph = $g"
    emit "  args = --target $c_target --isa cuda${staged:+ --stages-of $p}$(gpu_buffers)${timed:+ --profile $timed} $*"
    gpu_args="--gpu $d/gpu_plan.json"
    gpu_images=
    for part in $c_gpu; do
        chips=${part%%=*} file=${part#*=}
        case $file in @*) image=${d}/$c_prefix.sm_$(echo "$chips" | tr , _).fatbin ;; *) image=$file ;; esac
        gpu_args="$gpu_args --image $chips=$image"
        gpu_images="$gpu_images $image"
    done
    old=$(old_chip)
    [ -n "$old" ] || return 0
    image=$d/$c_prefix.compute_${old% *}.ptx
    gpu_args="$gpu_args --image ptx${old% *}=$image"
    gpu_images="$gpu_images $image"
}

gpu_ranks() { # of a deployment: sets $gpu_args of ingot deploy, $gpu_words for gen/ranks.sh, $gpu_deps
    gpu_args= gpu_words= gpu_deps=
    for part in $gpu_parts; do
        chips=${part%%=*}
        gpu_args="$gpu_args --image $chips"
        gpu_words="$gpu_words NVCC_$(echo "$chips" | tr , _)='$(eval "echo \"\$nvcc_${part##*@}\"")'"
    done
    old=$(c_gpu=$gpu_parts; old_chip)
    [ -z "$old" ] || gpu_args="$gpu_args --image ptx${old% *}"
    [ -z "$gpu_parts" ] || gpu_deps=" $(list $gpu_sources | sed "s|^|$src|" | tr '\n' ' ')"
}

gpu_objects() { # emits what nvcc and $c_cc make of the generated files
    for part in $c_gpu; do
        chips=${part%%=*} tool=${part#*=}
        case $tool in @*) ;; *) continue ;; esac
        emit "build ${d}/$c_prefix.sm_$(echo "$chips" | tr , _).fatbin: nvcc ${f}_gpu.cu | $(list $gpu_sources | sed "s|^|$src|" | tr '\n' ' ')"
        emit "  nvcc = $(eval "echo \"\$nvcc_${tool#@}\"")"
        emit "  chips =$(for sm in $(echo "$chips" | tr , ' '); do printf ' -gencode arch=compute_%s,code=sm_%s' "$sm" "$sm"; done)"
    done
    old=$(old_chip)
    [ -z "$old" ] || ptx "$d/$c_prefix.compute_${old% *}.ptx" "${f}_gpu.cu" "${old% *}" "${old#*@}"
    for unit in gpu.c gpu_image.S gpu_weights.S; do
        case $unit in
        gpu.c) needs= ;;
        gpu_image.S) needs=" |$gpu_images" ;;
        *) needs=" | ${f}_gpu_weights.bin" ;;
        esac
        emit "build ${f}_${unit%.*}.o: cc ${f}_$unit$needs"
        emit "  cc = $c_cc"
        emit "  flags = $sections $c_flags"
    done
}

gpu_program() {
    program_link
    # A board's programs are dynamic anyway.
    [ -n "$link_with" ] || link_flags='$gpu_program_flags' link_libs='-ldl -lm -lpthread'
    emit "build out/$c_target/$c_prefix: gpu_program ${f}_main.o ${f}_plan.o ${f}_gpu.o ${f}_gpu_image.o $link_runtime out/$c_target/libingot_kernels.a$link_with | ${f}_weights.bin ${f}_weights.o ${f}_gpu_weights.bin ${f}_gpu_weights.o \$srcdir/gen/link.sh"
    emit "  weights = $f"
    emit "  cc = $link_cc"
    emit "  flags = $link_flags"
    emit "  libs = $link_libs"
}
