SELECT inventory_type, body_type, count(*) AS count, median(price) AS median
FROM active
GROUP BY inventory_type, body_type
ORDER BY count DESC, inventory_type, body_type
LIMIT 3;
