SELECT dealer_id, name, dealers.city, dealers.state, count(active.id) AS listing_count
FROM dealers LEFT JOIN active USING (dealer_id)
WHERE dealers.type = 'franchise'
GROUP BY ALL
ORDER BY name
LIMIT 2;
