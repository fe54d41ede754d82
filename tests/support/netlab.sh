# Sourced by test scripts behind tap.inc: several machines on one PC. Each device is a network namespace with a link of its
# own to a bridge; mpirun starts processes there through an agent in place of ssh, each device with its own host name and
# temporary folder. Open MPI's settings go through the environment, so that mpirun, and what calls it, is run as anywhere.
#
#   lab_needs || { skip "a name" "$lab_why"; finish; exit; }
#   lab_start 3 100mbit    # devices $lab_hosts = labNe0 labNe1 labNe2, links of that rate in both directions
#   lab_mpirun -np 3 ./program
#   lab_rate 1gbit; lab_cut 1; lab_mend 1
#   lab_stop               # and whenever the script ends
lab=lab$$         # of every name: an interface's has 15 bytes at most
lab_hosts=
lab_folder=
lab_limit=300     # seconds that lab_mpirun may take
lab_why=

lab_stop() { # `|| :` for scripts with set -e: what is gone already is no fault
    lab_i=0
    for lab_host in $lab_hosts; do
        # shellcheck disable=SC2046
        kill -9 $(ip netns pids "$lab_host") 2>/dev/null || :
        ip link del "${lab}v$lab_i" 2>/dev/null || :
        ip netns del "$lab_host" 2>/dev/null || :
        lab_i=$((lab_i + 1))
    done
    [ -z "$lab_hosts" ] || ip link del "$lab" 2>/dev/null || :
    [ -z "$lab_folder" ] || rm -rf "$lab_folder"
    lab_hosts='' lab_folder=''
    unset OMPI_MCA_plm_rsh_agent OMPI_MCA_orte_default_hostfile OMPI_MCA_btl_tcp_if_include OMPI_MCA_oob_tcp_if_include
}
trap 'lab_stop; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

lab_link() { # device, its host: a link into its namespace, its address
    ip netns add "$2" && lab_hosts="$lab_hosts${lab_hosts:+ }$2" &&
        ip link add "${lab}v$1" type veth peer name eth0 netns "$2" &&
        ip link set "${lab}v$1" master "$lab" up && ip netns exec "$2" ip link set lo up &&
        ip netns exec "$2" ip addr add "$lab_net.$(($1 + 1))/24" dev eth0 && ip netns exec "$2" ip link set eth0 up
}

lab_network() { # an unused one, and its bridge
    lab_try=$$
    while
        lab_net=10.$((128 + lab_try / 250 % 100)).$((lab_try % 250))
        ip -4 addr show | grep -q " $lab_net\."
    do lab_try=$((lab_try + 1)); done
    ip link add "$lab" type bridge && ip addr add "$lab_net.254/24" dev "$lab" && ip link set "$lab" up
}

lab_agent() { # in place of ssh: AGENT HOST COMMAND...
    lab_folder=$(mktemp -d /tmp/lab.XXXXXX) && cat >"$lab_folder/agent" <<AGENT && chmod +x "$lab_folder/agent"
#!/bin/sh
host=\$1
shift
mkdir -p "$lab_folder/\$host"
exec ip netns exec "\$host" unshare --uts sh -c "hostname \$host; export TMPDIR=$lab_folder/\$host; \$*"
AGENT
    printf '%s slots=1\n' $lab_hosts >"$lab_folder/hosts"
}

lab_settings() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_plm_rsh_agent="$lab_folder/agent" OMPI_MCA_plm_rsh_no_tree_spawn=1
    export OMPI_MCA_orte_default_hostfile="$lab_folder/hosts"
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self
    export OMPI_MCA_btl_tcp_if_include="$lab_net.0/24" OMPI_MCA_oob_tcp_if_include="$lab_net.0/24"
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
}

lab_start() { # devices, rate such as 100mbit; none: as fast as it goes
    lab_devices=$1
    lab_network || return 1
    lab_i=0
    while [ $lab_i -lt "$lab_devices" ]; do
        lab_link $lab_i "${lab}e$lab_i" || { lab_stop; return 1; }
        lab_i=$((lab_i + 1))
    done
    { lab_agent && lab_settings && { [ -z "${2:-}" ] || lab_rate "$2"; }; } || { lab_stop; return 1; }
}

# rate: what a device sends, and what it is sent. A burst is a millisecond or less: a link, no reservoir. Segments of TCP's leave in
# one piece of that size, as the network card would cut them up: else this machine's cores do, packet by packet.
lab_rate() {
    case $1 in *gbit) lab_burst=32kb lab_piece=30000 ;; *) lab_burst=8kb lab_piece=7500 ;; esac
    lab_i=0
    for lab_host in $lab_hosts; do
        lab_shape="root tbf rate $1 burst $lab_burst latency 400ms"
        # shellcheck disable=SC2086
        ip netns exec "$lab_host" ip link set eth0 gso_max_size $lab_piece &&
            ip netns exec "$lab_host" tc qdisc replace dev eth0 $lab_shape && tc qdisc replace dev "${lab}v$lab_i" $lab_shape ||
            return 1
        lab_i=$((lab_i + 1))
    done
}

lab_host() { # number: its name
    echo "${lab}e$1"
}

lab_cut() { # number of a device: its link is down
    ip netns exec "${lab}e$1" ip link set eth0 down
}

lab_mend() {
    ip netns exec "${lab}e$1" ip link set eth0 up
}

lab_mpirun() { # mpirun's arguments; ended after $lab_limit seconds
    timeout -k 5 "$lab_limit" mpirun "$@" </dev/null
}

lab_needs() { # 0, or $lab_why says what is missing
    for lab_tool in mpirun ip tc unshare timeout; do
        have "$lab_tool" || { lab_why="no $lab_tool"; return 1; }
    done
    mpirun --version 2>/dev/null | grep -q 'Open MPI' || { lab_why="mpirun is not Open MPI's"; return 1; }
    [ "$(id -u)" = 0 ] || { lab_why="network namespaces want root"; return 1; }
    if lab_start 1 100mbit >"$work/lab.log" 2>&1; then
        lab_stop
        return 0
    fi
    lab_why="no network namespaces: $(head -1 "$work/lab.log")"
    lab_stop
    ip link del "$lab" 2>/dev/null
    return 1
}
