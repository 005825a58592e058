CREATE TABLE segments(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO segments VALUES (1,'retail'),(2,'wholesale'),(3,'idle');
CREATE TABLE customers(id INTEGER PRIMARY KEY, segment_id INTEGER, region TEXT);
INSERT INTO customers VALUES (1,1,'EAST'),(2,2,'WEST'),(3,NULL,'WEST');
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10,2), status TEXT);
INSERT INTO orders VALUES (1,1,30,'completed'),(2,2,14,'completed'),(3,3,5,'completed'),(4,9,1,'completed');
CREATE TABLE order_lines(id INTEGER PRIMARY KEY, order_id INTEGER, sku TEXT, qty INTEGER, price DECIMAL(10,2));
INSERT INTO order_lines VALUES (1,1,'a',2,10),(2,1,'b',1,10),(3,2,'a',2,7),(4,3,'c',1,5),(5,4,'c',1,1);
