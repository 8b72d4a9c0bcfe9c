namespace longhand {}
