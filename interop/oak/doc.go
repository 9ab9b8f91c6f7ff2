// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package oak exchanges content stores between the content packages and the published Apache Jackrabbit Oak, in both
// directions.
//
// The program in driver is built with Oak and does to a store what it is told line by line: it writes random content,
// changes it, collects garbage, checks, and dumps. What it dumps is compared with what we read.
package oak
