module github.com/holtdb/holt/bench

go 1.26.0

replace github.com/holtdb/holt => ../

require (
	github.com/holtdb/holt v0.0.0-00010101000000-000000000000
	go.etcd.io/bbolt v1.5.0
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
	modernc.org/file v1.1.4
	modernc.org/lldb v1.0.8
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/edsrzf/mmap-go v1.2.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sys v0.50.0 // indirect
	modernc.org/fileutil v1.4.0 // indirect
	modernc.org/internal v1.1.12 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/sortutil v1.1.1 // indirect
	modernc.org/zappy v1.0.9 // indirect
)
