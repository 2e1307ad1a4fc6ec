SELECT id, vin, year, make, model, price, miles, dealer_name
FROM active
WHERE make IN ('Toyota', 'Honda')
  AND price <= 25000
ORDER BY price, vin
LIMIT 2;
