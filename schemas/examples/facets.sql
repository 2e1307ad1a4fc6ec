SELECT make, count(*) AS count
FROM active
WHERE inventory_type = 'used'
GROUP BY make
ORDER BY count DESC, make
LIMIT 3;
