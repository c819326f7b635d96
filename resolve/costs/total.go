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
	total = new(big.Rat)
	for i := range all {
		if !strings.EqualFold(all[i].Currency, currency) || !strings.EqualFold(all[i].Unit, unit) {
			continue
		}
		amount, err := Decimal(all[i].Amount)
		if err != nil {
			return nil, false
		}
		total, known = total.Add(total, amount), true
	}
	return total, known
}
