package lifecycle

// The HTTP statuses that matter. They are defined here because this package
// does not import net/http.
const (
	statusCreated             = 201
	statusAccepted            = 202
	statusMultipleChoices     = 300
	statusBadRequest          = 400
	statusRequestTimeout      = 408
	statusGone                = 410
	statusInternalServerError = 500
	statusBadGateway          = 502
	statusGatewayTimeout      = 504
)
