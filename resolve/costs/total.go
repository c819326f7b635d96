package costs

import (
	"math/big"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Total is what all costs of a currency and a unit add up to, both without regard to case:
// a broker may bill each of them. Known is false where there is none, or one whose amount
// is no decimal.
func Total(all []v1beta1.PlanCost, currency, unit string) (total *big.Rat, known bool) {
	sum := new(big.Int)
	for i := range all {
		if !strings.EqualFold(all[i].Currency, currency) || !strings.EqualFold(all[i].Unit, unit) {
			continue
		}
		amount, ok := shifted(all[i].Amount)
		if !ok {
			return nil, false
		}
		sum, known = sum.Add(sum, amount), true
	}
	return new(big.Rat).SetFrac(sum, limit.Num()), known
}

// shifted reads an amount as status has it, times 10 to the power of maxDigits: policies add up the costs
// of many plans, and whole numbers are added faster than fractions.
func shifted(amount string) (*big.Int, bool) {
	whole, fraction, _ := strings.Cut(amount, ".")
	if whole == "" || len(whole) > maxDigits || len(fraction) > maxDigits || strings.ContainsAny(amount, "+-_") {
		return nil, false
	}
	return new(big.Int).SetString(whole+fraction+strings.Repeat("0", maxDigits-len(fraction)), 10)
}
