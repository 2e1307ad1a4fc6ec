SELECT vin, id, year, make, model, trim, price
FROM active
WHERE vin = '2HKRW2H88NH060064';
