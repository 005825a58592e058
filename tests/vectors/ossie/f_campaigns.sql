CREATE TABLE customers(id INTEGER PRIMARY KEY, region TEXT);
INSERT INTO customers VALUES (1,'EAST'),(2,'EAST'),(3,'WEST'),(4,'NORTH'),(5,'SOUTH');
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10,2));
INSERT INTO orders VALUES (1,1,100),(2,1,50),(3,2,200),(4,3,75);
CREATE TABLE campaigns(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO campaigns VALUES (1,'spring'),(2,'summer');
CREATE TABLE customer_campaigns(customer_id INTEGER, campaign_id INTEGER, PRIMARY KEY(customer_id, campaign_id));
INSERT INTO customer_campaigns VALUES (1,1),(1,2),(2,1),(2,2),(4,1);
