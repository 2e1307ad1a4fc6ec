SELECT dealer_id, name, type, line1, city, state, phone, website
FROM dealers
WHERE dealer_id = '41e7ac92-0f5b-4d38-8c6e-b92d70f1a584';
