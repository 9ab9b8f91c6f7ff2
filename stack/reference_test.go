// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import "bytes"

// recovered says what a file of any bytes holds after Open, from the rules of the format alone: the payload, or false
// if Open has to refuse it. It is as simple as can be, for the tests to compare with. It may change content.
func recovered(content []byte) (payload []byte, ok bool) {
	if unfinished(content) {
		return nil, true
	}
	if len(content) < headerSize || !bytes.HasPrefix(content, []byte("BSTK\x00\x04")) {
		return nil, false
	}
	length, target, mode := le.Uint64(content[8:]), le.Uint64(content[16:]), le.Uint64(content[24:])
	body := content[headerSize:]
	if length > uint64(len(body)) {
		return body, true
	}
	payload, tail := body[:length], body[length:]
	if target == 0 && mode != modeMultiWrite {
		return payload, true // at rest, or a mode that has to have a target
	}
	// Offsets that overflow come out as ones that are far too large.
	at := target - headerSize
	switch mode {
	case modeSet:
		return replay(payload, at, tail), true
	case modeRepeat:
		return replayRepeat(payload, at, tail), true
	case modeCopy:
		return replayCopy(payload, at, tail), true
	case modeSpliceGrow, modeSpliceShrink:
		return replaySplice(body, length, at, mode == modeSpliceGrow), true
	case modeMultiWrite:
		if target == 0 {
			return replayMultiWrite(payload, tail), true
		}
	}
	return payload, true
}

// unfinished says whether the file may be one whose creation was interrupted.
func unfinished(content []byte) bool {
	for i, b := range content {
		if i >= headerSize || b != 0 && b != resting(nil)[i] {
			return false
		}
	}
	return true
}

// inside says whether n bytes at off, at least one, are inside p.
func inside(p []byte, off, n uint64) bool {
	length := uint64(len(p))
	return n > 0 && off < length && n <= length-off
}

func replay(payload []byte, at uint64, data []byte) []byte {
	if inside(payload, at, uint64(len(data))) {
		copy(payload[at:], data)
	}
	return payload
}

func replayRepeat(payload []byte, at uint64, tail []byte) []byte {
	if len(tail) <= 8 {
		return payload
	}
	count, pattern := le.Uint64(tail), tail[8:]
	if count > uint64(len(payload)) { // keeps the product small
		return payload
	}
	return replay(payload, at, bytes.Repeat(pattern, int(count)))
}

func replayCopy(payload []byte, to uint64, tail []byte) []byte {
	if len(tail) < 16 {
		return payload
	}
	from, n := le.Uint64(tail), le.Uint64(tail[8:])
	if !inside(payload, from, n) || !inside(payload, to, n) || from < to+n && to < from+n {
		return payload
	}
	copy(payload[to:to+n], payload[from:])
	return payload
}

func replaySplice(body []byte, length, at uint64, grow bool) []byte {
	end := uint64(len(body))
	payload := body[:length]
	if at > length {
		return payload
	}
	result := end + at - length
	if grow {
		if (end+at)%2 != 0 {
			return payload
		}
		result = (end + at) / 2
	}
	staged := max(length, result)
	if result < at || result == length || (result > length) != grow || staged+(result-at) != end {
		return payload
	}
	return append(bytes.Clone(body[:at]), body[staged:]...)
}

func replayMultiWrite(payload, tail []byte) []byte {
	after := bytes.Clone(payload)
	for len(tail) > 0 {
		if len(tail) < 16 {
			return payload
		}
		start, end := le.Uint64(tail), le.Uint64(tail[8:])
		tail = tail[16:]
		if start > end || end > uint64(len(payload)) || end-start > uint64(len(tail)) {
			return payload
		}
		copy(after[start:end], tail)
		tail = tail[end-start:]
	}
	return after
}
