CREATE TABLE inventory(store_id INTEGER, sku TEXT, stock_level INTEGER, reorder_point INTEGER, PRIMARY KEY(store_id, sku));
INSERT INTO inventory VALUES (1,'a',5,10),(1,'b',7,20),(2,'a',9,20);
CREATE TABLE sales(id INTEGER PRIMARY KEY, store_id INTEGER, sku TEXT, qty INTEGER, sale_ts TEXT);
INSERT INTO sales VALUES (1,1,'a',3,'2026-01-01'),(2,1,'b',4,'2026-01-01'),(3,2,'a',5,'2026-01-02'),(4,2,'b',6,'2026-01-02');
