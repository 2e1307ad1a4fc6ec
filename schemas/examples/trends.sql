SELECT snapshot_date, median(price) AS median
FROM active_days
WHERE make = 'Toyota'
GROUP BY snapshot_date
ORDER BY snapshot_date;
