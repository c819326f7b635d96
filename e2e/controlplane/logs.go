package main

import (
	"fmt"
	"io"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/grpclog"
)

// logFile is where everything that the parts log goes; stdout has the ready line and stderr the last error.
const logFile = "log"

// logs is the log file of the process.
type logs struct {
	file      *os.File
	etcdLevel zapcore.Level
}

// openLogs opens the log file, behind what earlier starts wrote.
func openLogs(path string, verbosity int) (*logs, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open log %q: %w", path, err)
	}
	logGRPCErrors(file)
	level := zapcore.WarnLevel
	if verbosity > 0 {
		level = zapcore.InfoLevel
	}
	return &logs{file: file, etcdLevel: level}, nil
}

// logGRPCErrors leaves warnings out: etcd's clients warn of each connection that they try and drop.
func logGRPCErrors(out io.Writer) {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, out))
}

// zap is etcd's logger, into the same file.
func (l *logs) zap() *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(config)
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(l.file), l.etcdLevel))
}
