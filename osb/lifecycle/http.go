package lifecycle

// The statuses of HTTP that decide on something. They are written here because this
// package knows nothing of networks.
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
