SELECT id, vin, price, inventory_type, stock_number, vdp_url
FROM active
WHERE id = 'ad97e543e226497617a6a94a77a9f61d';
