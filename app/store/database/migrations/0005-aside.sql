-- What is kept from the model: on the last message of it {at, summary, back}.
ALTER TABLE messages ADD COLUMN aside TEXT;
