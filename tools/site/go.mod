// Makes the site of the pages, apart from the project so that a renderer of Markdown is no
// dependency of what runs in a cluster.
module github.com/defaultplan/defaultplan/tools/site

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/yuin/goldmark v1.8.7
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
