// Our checkpoint, tiles, proofs and cosigned notes, read by Go's own implementation:
// golang.org/x/mod/sumdb/note and tlog. Arguments: the log's folder, its verifier key, and any
// number of proof files. A package exported as tlog-tiles is read too if its bundles are there.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(err error, what string) {
	if err != nil {
		fmt.Printf("not ok - %s: %v\n", what, err)
		os.Exit(1)
	}
}

func require(ok bool, what string) {
	if !ok {
		fmt.Printf("not ok - %s\n", what)
		os.Exit(1)
	}
}

type head struct {
	size int64
	root tlog.Hash
}

func openHead(text []byte, verifier note.Verifier) head {
	opened, err := note.Open(text, note.VerifierList(verifier))
	check(err, "the checkpoint's note")
	lines := strings.Split(opened.Text, "\n")
	require(len(lines) == 4 && lines[0] == verifier.Name(), "the checkpoint's origin")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err, "the checkpoint's size")
	root, err := base64.StdEncoding.DecodeString(lines[2])
	check(err, "the checkpoint's root")
	var h head
	h.size = size
	require(copy(h.root[:], root) == 32, "the checkpoint's root")
	return h
}

func records(dir string) [][]byte {
	names, _ := filepath.Glob(filepath.Join(dir, "seg", "*.jsonl"))
	sort.Strings(names)
	var all [][]byte
	for _, name := range names {
		file, err := os.Open(name)
		check(err, name)
		scanner := bufio.NewScanner(file)
		scanner.Buffer(nil, 1<<17)
		for scanner.Scan() {
			all = append(all, append([]byte(nil), scanner.Bytes()...))
		}
		check(scanner.Err(), name)
		file.Close()
	}
	return all
}

// Tiles of height 8 as C2SP names them: without the height that Go's paths begin with.
type tiles struct{ dir string }

func (t tiles) Height() int { return 8 }

func (t tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range want {
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(t.dir, path))
		if err != nil && tile.W < 256 {
			full := tile
			full.W = 256
			data, err = os.ReadFile(filepath.Join(t.dir,
				strings.Replace(full.Path(), "tile/8/", "tile/", 1)))
			if err == nil {
				data = data[:tile.W*tlog.HashSize]
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func checkProof(path string, entries [][]byte, verifier note.Verifier) {
	data, err := os.ReadFile(path)
	check(err, path)
	parts := bytes.SplitN(data, []byte("\n\n"), 2)
	require(len(parts) == 2, path+": no checkpoint")
	h := openHead(parts[1], verifier)
	lines := strings.Split(string(parts[0]), "\n")
	require(lines[0] == "c2sp.org/tlog-proof@v1", path+": header")
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	check(err, path+": index")
	var proof tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := base64.StdEncoding.DecodeString(line)
		check(err, path)
		var one tlog.Hash
		copy(one[:], hash)
		proof = append(proof, one)
	}
	check(tlog.CheckRecord(proof, h.size, h.root, index, tlog.RecordHash(entries[index])), path)
	fmt.Printf("ok - proof of record %d\n", index)
}

func checkBundles(dir string, entries [][]byte) {
	if _, err := os.Stat(filepath.Join(dir, "tile", "entries")); err != nil {
		return
	}
	for first := 0; first < len(entries); first += 256 {
		tile := tlog.Tile{H: 8, L: -1, N: int64(first / 256), W: 256}
		if len(entries)-first < 256 {
			tile.W = len(entries) - first
		}
		path := strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(dir, path))
		check(err, "bundle")
		for i := first; len(data) > 0; i++ {
			n := int(binary.BigEndian.Uint16(data))
			require(bytes.Equal(data[2:2+n], entries[i]), fmt.Sprintf("entry %d", i))
			data = data[2+n:]
		}
	}
	fmt.Println("ok - entry bundles")
}

func main() {
	dir := os.Args[1]
	verifier, err := note.NewVerifier(os.Args[2])
	check(err, "the verifier key")
	text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	check(err, "checkpoint")
	h := openHead(text, verifier)
	fmt.Println("ok - checkpoint")
	source := dir
	if len(os.Args) > 3 && !strings.HasSuffix(os.Args[3], ".tlog-proof") {
		source = os.Args[3] // the records of a package of bundles
	}
	entries := records(source)
	require(int64(len(entries)) >= h.size, "fewer records than the checkpoint counts")
	entries = entries[:h.size]
	reader := tlog.TileHashReader(tlog.Tree{N: h.size, Hash: h.root}, tiles{dir})
	var indexes []int64
	for i := range entries {
		indexes = append(indexes, tlog.StoredHashIndex(0, int64(i)))
	}
	hashes, err := reader.ReadHashes(indexes)
	check(err, "tiles")
	for i, entry := range entries {
		require(hashes[i] == tlog.RecordHash(entry), fmt.Sprintf("record %d in its tile", i))
	}
	fmt.Printf("ok - %d records, their tiles and root\n", len(entries))
	for m := int64(1); m <= h.size; m += h.size/7 + 1 {
		old, err := tlog.TreeHash(m, reader)
		check(err, "an older root")
		proof, err := tlog.ProveTree(h.size, m, reader)
		check(err, "consistency")
		check(tlog.CheckTree(proof, h.size, h.root, m, old), "consistency")
	}
	fmt.Println("ok - consistency")
	checkBundles(dir, entries)
	for _, path := range os.Args[3:] {
		if strings.HasSuffix(path, ".tlog-proof") {
			checkProof(path, entries, verifier)
		}
	}
}
