// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// Type is the type of a property; that of an array is the negative of its values'.
type Type int8

// The types of properties.
const (
	TypeUndefined Type = iota // is never written
	TypeString
	TypeBinary
	TypeLong
	TypeDouble
	TypeDate
	TypeBoolean
	TypeName
	TypePath
	TypeReference
	TypeWeakReference
	TypeURI
	TypeDecimal
)

// The types of arrays.
const (
	TypeStrings        = -TypeString
	TypeBinaries       = -TypeBinary
	TypeLongs          = -TypeLong
	TypeDoubles        = -TypeDouble
	TypeDates          = -TypeDate
	TypeBooleans       = -TypeBoolean
	TypeNames          = -TypeName
	TypePaths          = -TypePath
	TypeReferences     = -TypeReference
	TypeWeakReferences = -TypeWeakReference
	TypeURIs           = -TypeURI
	TypeDecimals       = -TypeDecimal
)

var typeNames = [...][2]string{
	{"UNDEFINED", "UNDEFINEDS"},
	{"STRING", "STRINGS"},
	{"BINARY", "BINARIES"},
	{"LONG", "LONGS"},
	{"DOUBLE", "DOUBLES"},
	{"DATE", "DATES"},
	{"BOOLEAN", "BOOLEANS"},
	{"NAME", "NAMES"},
	{"PATH", "PATHS"},
	{"REFERENCE", "REFERENCES"},
	{"WEAKREFERENCE", "WEAKREFERENCES"},
	{"URI", "URIS"},
	{"DECIMAL", "DECIMALS"},
}

// IsArray says whether a property of the type has any number of values, not just one.
func (t Type) IsArray() bool { return t < 0 }

// Base is the type of each value.
func (t Type) Base() Type {
	if t < 0 {
		return -t
	}
	return t
}

// String is the name Oak gives the type: LONG, say, or LONGS.
func (t Type) String() string {
	if !t.known() {
		return "?"
	}
	if t < 0 {
		return typeNames[-t][1]
	}
	return typeNames[t][0]
}

func (t Type) known() bool { return t >= -TypeDecimal && t <= TypeDecimal }
