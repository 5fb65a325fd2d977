package mapping

import (
	"os"
	"testing"
	"time"
)

// TestMain reads times without a zone as those of one zone, on every machine.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
