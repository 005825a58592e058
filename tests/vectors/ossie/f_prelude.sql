CREATE TABLE customers(id INTEGER PRIMARY KEY, region TEXT, segment TEXT);
INSERT INTO customers VALUES (1,'EAST','retail'),(2,'EAST','retail'),(3,'WEST','wholesale'),(4,'NORTH','retail');
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10,2), status TEXT);
INSERT INTO orders VALUES (101,1,100.00,'completed'),(102,1,50.00,'completed'),(103,2,200.00,'pending'),(104,3,75.00,'completed'),(105,99,30.00,'completed');
CREATE TABLE returns(id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10,2));
INSERT INTO returns VALUES (201,1,10.00),(202,3,5.00),(203,4,15.00);
CREATE TABLE premium_customers(id INTEGER PRIMARY KEY);
INSERT INTO premium_customers VALUES (1),(3);
