package v1beta1

// EndpointFrom says which keys of the credentials are an endpoint.
type EndpointFrom struct {
	// HostKey is the key whose value is a host name or an address.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	HostKey string `json:"hostKey"`
	// PortKey is the key whose value is a port, or a range such as 9000-9010.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PortKey string `json:"portKey"`
	// Protocol is tcp, udp or all. Absent: tcp.
	// +optional
	// +kubebuilder:validation:Enum="";tcp;udp;all
	Protocol string `json:"protocol,omitempty"`
}

// BindingEndpoint is where an application finds the service.
type BindingEndpoint struct {
	// Host is a name, or an address.
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host"`
	// Ports are single ones or ranges, such as 9000-9010.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=11
	Ports []string `json:"ports,omitempty"`
	// Protocol is tcp, udp or all. Absent: tcp.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	Protocol string `json:"protocol,omitempty"`
	// Mapped says that spec.endpointsFrom gave it, and not the broker.
	// +optional
	Mapped bool `json:"mapped,omitempty"`
}
