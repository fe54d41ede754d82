"""The contenders at work: each in a process of its own, stopped while it is not its turn, pinned to the same cores."""
import contextlib
import fcntl
import glob
import json
import os
import select
import signal
import subprocess
import sys
import time

from peer.workshop import FOLDER, Failed

HERE = os.path.dirname(os.path.abspath(__file__))


def prefer(pid, nice):
    """Puts a process, and its session where the scheduler groups by session, before others, if that is allowed."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0 if pid == "self" else pid, nice)
        with open(f"/proc/{pid}/autogroup", "w") as f:
            f.write(str(nice))


@contextlib.contextmanager
def pinned(cores):
    """Children started in here run on `cores` alone, and before other programs where the system lets them."""
    before, nice = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)
    os.sched_setaffinity(0, cores)
    try:
        prefer("self", -20)
        yield
    finally:
        os.sched_setaffinity(0, before)
        prefer("self", nice)


class Lock:
    """A file's lock, if there is one, held while something is timed. It stays held from one timing to the next for
    LEASE seconds, or until release(), so that other timings on this machine wait, but not for long."""
    LEASE = 25

    def __init__(self, path):
        self.path, self.file, self.since = path, None, 0

    def __enter__(self):
        if self.path and not self.file:
            self.file = open(self.path, "a")
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.monotonic()

    def __exit__(self, *_):
        if time.monotonic() - self.since > self.LEASE:
            self.release()

    def release(self):
        if self.file:
            self.file.close()
            self.file = None


class Contender:
    """A process that answers numbers of inferences with their times."""

    def __init__(self, name, args, cores, hello, timeout):
        self.name, self.timeout, self.tail = name, timeout, b""
        self.log = f"{FOLDER}/{name}.log"
        with pinned(cores), open(self.log, "w") as log:
            try:
                self.process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                                start_new_session=True)
            except OSError as e:
                raise Failed(f"{args[0]}: {e.strerror}")
        prefer(self.process.pid, -20)
        try:
            self.about = self.answer() if hello else {}
            self.rest()
        except BaseException:
            self.end()
            raise

    def answer(self):
        end = time.monotonic() + self.timeout
        pipe = self.process.stdout.fileno()
        while b"\n" not in self.tail:
            if not select.select([pipe], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"no answer within {self.timeout} s")
            piece = os.read(pipe, 1 << 16)
            if not piece:
                raise Failed(self.last_words())
            self.tail += piece
        line, self.tail = self.tail.split(b"\n", 1)
        return json.loads(line)

    def last_words(self):
        self.process.wait()
        with open(self.log, errors="replace") as f:
            lines = [line.strip() for line in f if line.strip()]
        return lines[-1] if lines else f"ended with status {self.process.returncode}"

    def run(self, n):
        """Times of n inferences, ns."""
        os.kill(self.process.pid, signal.SIGCONT)
        try:
            self.process.stdin.write(f"{n}\n".encode())
            self.process.stdin.flush()
        except OSError:
            raise Failed(self.last_words())
        times = self.answer()
        self.rest()
        return times

    def lost(self):
        """ns that its threads were ready to run and something else had their core."""
        waited = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with contextlib.suppress(OSError), open(path) as f:
                waited += int(f.read().split()[1])
        return waited

    def rest(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def way(self):
        """Which of a peer's ways of calling was the fastest."""
        with open(self.log) as f:
            for line in f:
                if line.startswith(f"{self.name}: "):
                    return line.split(": ", 1)[1].strip()
        return None

    def end(self):
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def worker(python, peer, model, net, threads, out):
    raw = f"{FOLDER}/{net['name']}/input.raw"
    return [python, f"{HERE}/worker.py", peer, model, raw, net["input"], str(threads), out]


def iterations(ms, o):
    """Of one contender that takes `ms`: the full number where that takes less than o.slow seconds, at least 10."""
    if o.runs * ms > o.slow * 1e3:
        return max(min(10, o.runs), int(o.slow * 1e3 / ms))
    return min(max(o.runs, int(o.seconds * 1e3 / ms)), o.most)


def warm_up(ms):
    """Untimed inferences after a pause: two, or 20 ms of them."""
    return max(2, min(100, int(20 / ms)))


def settling(ms):
    """Untimed inferences after another program had the last cache, of a network that may not fit into it: two, or 300 ms of
    them."""
    return max(2, int(300 / ms))


def stolen(cores):
    """ns that the host of a virtual machine gave to others, of these cores."""
    ticks = 0
    with contextlib.suppress(OSError, IndexError), open("/proc/stat") as f:
        for line in f:
            name, *fields = line.split()
            if name in {f"cpu{c}" for c in cores}:
                ticks += int(fields[7])
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Cores:
    """Two cores of a virtual machine may for a while be the two threads of one, or be on chips with a last cache each where
    they mostly share one, or the other way round (bench/pipe/cores.c)."""
    ONE = 1.35  # times as long as alone that a core takes beside the other
    APART = 2   # times as far apart, or as near, as they mostly are

    def __init__(self, cores):
        self.met, self.kept, self.usual = 0, 0, None  # times that they were odd, and that what was measured then counts
        with pinned([int(c) for c in cores]):
            self.process = subprocess.Popen(["out/bench/cores", *map(str, cores)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)
        prefer(self.process.pid, -20)

    def look(self):
        """Times as long as alone, and ns from one to the other."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            raise Failed("out/bench/cores ended")
        return map(float, answer)

    def settle(self, looks=21, pause=0.2):
        """How far apart they mostly are, for what is measured from now on."""
        self.met = self.kept = 0
        many = []
        for _ in range(looks):
            many.append(list(self.look())[1])
            time.sleep(pause)
        self.usual = sorted(many)[looks // 2]

    def are_odd(self):
        times, ns = self.look()
        odd = times > self.ONE or not 1 / self.APART < ns / self.usual < self.APART
        self.met += odd
        return odd

    def calm(self, tries, measure):
        """What measure() returns, tried again while the cores are odd before or behind it."""
        for _ in range(tries):
            odd = self.are_odd()
            found = measure()
            if not (self.are_odd() or odd):
                return found
        self.kept += 1
        return found


def turn(c, n, warm, o, cores):
    """(times of n inferences, share of the time that others took): tried again where that share is above o.calm, or where
    o.two, a Cores, are odd; the calmest try counts."""
    best, two = None, getattr(o, "two", None)
    for _ in range(o.tries):
        odd = two is not None and two.are_odd()
        c.run(warm)
        lost, start = c.lost() + stolen(cores), time.monotonic_ns()
        times = c.run(n)
        share = (c.lost() + stolen(cores) - lost) / (time.monotonic_ns() - start)
        odd = two is not None and two.are_odd() or odd
        if not best or (odd, share) < best[0]:
            best = (odd, share), times
        if share <= o.calm and not odd:
            break
    if best[0][0]:
        two.kept += 1
    return best[1], best[0][1]


def rounds(contenders, o, cores, timing):
    """Interleaved rounds; {name: [ns]}, {name: share lost to other programs} and {name: reason} of those that failed
    on the way."""
    times, lost, failed, guess = {c.name: [] for c in contenders}, {}, {}, {}
    for r in range(o.rounds + 1):
        for c in contenders:
            if c.name in failed:
                continue
            try:
                with timing:
                    if r == 0:
                        guess[c.name] = c.run(3)[-1] * 1e-6
                        continue
                    n = -(-iterations(guess[c.name], o) // o.rounds)
                    some, share = turn(c, n, warm_up(guess[c.name]), o, cores)
                times[c.name] += some
                lost[c.name] = lost.get(c.name, 0) + share / o.rounds
            except Failed as e:
                failed[c.name] = str(e)
    return times, lost, failed


def quantile(ordered, q):
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def summary(ns):
    """ms: median, least, spread."""
    s = sorted(ns)
    return {"median_ms": quantile(s, 0.5) * 1e-6, "min_ms": s[0] * 1e-6, "p10_ms": quantile(s, 0.1) * 1e-6,
            "p90_ms": quantile(s, 0.9) * 1e-6, "samples": len(s)}


def note(*words):
    print("peers:", *words, file=sys.stderr, flush=True)
