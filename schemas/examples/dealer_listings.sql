SELECT id, make, model, price
FROM active
WHERE dealer_id = '41e7ac92-0f5b-4d38-8c6e-b92d70f1a584'
ORDER BY days_on_market, vin
LIMIT 2;
