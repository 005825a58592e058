import base64, glob, hashlib, json, os, sys

H = lambda b: hashlib.sha256(b).digest()

def root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else H(b"")
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return H(b"\x01" + root(leaves[:k]) + root(leaves[k:]))

log = sys.argv[1]
files = sorted(glob.glob(log + "/seg/*.jsonl")) or [log + "/log.jsonl"]
prev, leaves, before, sealed = b"0" * 64, [], None, []
for name in files:
    data = open(name, "rb").read()
    lines = data.split(b"\n")
    assert lines.pop() == b"", name + ": the last line is torn"
    if before:
        told = json.loads(lines[0])["sg"]
        assert told["sha256"] == hashlib.sha256(before).hexdigest(), name + ": the file before it was changed"
        sealed.append((told["name"].replace(".jsonl", ".checkpoint"), len(leaves)))
    for line in lines:
        start = b'{"_prev":"' + prev + b'","_seq":' + str(len(leaves)).encode()
        assert line.startswith(start) and line[len(start):len(start) + 1] in b",}", "record %d" % len(leaves)
        json.loads(line)
        leaves.append(H(b"\x00" + line))
        prev = leaves[-1].hex().encode()
    before = data
for name, size in [("seg/" + s, n) for s, n in sealed] + [("checkpoint", None)]:
    origin, count, want = open(os.path.join(log, name), encoding="utf-8").read().split("\n")[:3]
    assert size in (None, int(count)), name + " counts other records than its segment has"
    assert int(count) <= len(leaves), "%s: the log was cut" % name
    assert root(leaves[:int(count)]) == base64.b64decode(want), name + " does not fit the log"
print(len(leaves), "records,", len(files), "files: chain, roots and seals fit; head of", origin, "at", count)
