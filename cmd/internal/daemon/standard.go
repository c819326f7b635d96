package daemon

import (
	"bytes"
	"log"

	"go.uber.org/zap"
)

// standardLog logs for the standard library, without what it quotes: net/http
// logs the bytes that a broker sends after its response, whatever they are.
type standardLog struct{ logger *zap.Logger }

// logStandardTo redirects the standard library's log to a logger.
func logStandardTo(logger *zap.Logger) {
	log.SetFlags(0)
	log.SetOutput(standardLog{logger})
}

// Write logs one line.
func (s standardLog) Write(line []byte) (int, error) {
	text, _, quotes := bytes.Cut(bytes.TrimSpace(line), []byte{'"'})
	s.logger.Info("the standard library: "+string(text), zap.Bool("quoteLeftOut", quotes))
	return len(line), nil
}
