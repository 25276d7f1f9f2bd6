package assembly

// Table is an AWS::DynamoDB::Table or GlobalTable.
type Table struct {
	ID   string
	Name string
	Hash Attribute
	Sort Attribute // zero where there is none
}

// Attribute is part of a table's primary key.
type Attribute struct{ Name, Type string }

func (s *stack) addTable(a *Assembly, id string, r resource) error {
	var p struct {
		KeySchema            []struct{ AttributeName, KeyType string }
		AttributeDefinitions []struct{ AttributeName, AttributeType string }
	}
	if err := s.properties(r, &p); err != nil {
		return err
	}
	types := map[string]string{}
	for _, d := range p.AttributeDefinitions {
		types[d.AttributeName] = d.AttributeType
	}
	out := Table{ID: s.where(id, r)}
	for _, k := range p.KeySchema {
		switch k.KeyType {
		case "HASH":
			out.Hash = Attribute{k.AttributeName, types[k.AttributeName]}
		case "RANGE":
			out.Sort = Attribute{k.AttributeName, types[k.AttributeName]}
		}
	}
	if out.Hash.Name == "" {
		a.notice("%s: its key is not in the template, and it is not kept", out.ID)
		return nil
	}
	var err error
	out.Name, err = s.nameOf(id, r)
	a.Tables = append(a.Tables, out)
	return err
}
