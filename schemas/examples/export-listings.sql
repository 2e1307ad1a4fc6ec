-- carquet sql --file toyotas.sql --output listings.parquet
SELECT *
FROM active
WHERE make IN ('Toyota', 'Mercedes-Benz');
