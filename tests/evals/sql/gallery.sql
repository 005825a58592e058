-- Boats for hire, parcels and sales: small tables in which each class of silent error shows.
CREATE TABLE client(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE port(id INTEGER PRIMARY KEY, name TEXT, dues INTEGER);
CREATE TABLE hire(id INTEGER PRIMARY KEY, client_id INTEGER, fee INTEGER, port_out INTEGER, port_back INTEGER);
CREATE TABLE pay(id INTEGER PRIMARY KEY, hire_id INTEGER, amount INTEGER);
CREATE TABLE extra(id INTEGER PRIMARY KEY, hire_id INTEGER, price INTEGER);
CREATE TABLE crew(hire_id INTEGER, guide TEXT, PRIMARY KEY(hire_id, guide));
CREATE TABLE depot(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE parcel(id INTEGER PRIMARY KEY, depot_id INTEGER, state TEXT, kg INTEGER);
CREATE TABLE sale(id INTEGER PRIMARY KEY, at TEXT, eur INTEGER, gone_at TEXT);
CREATE TABLE month_total(month TEXT PRIMARY KEY, eur INTEGER, built_at TEXT);
INSERT INTO client VALUES (1,'Ada'),(2,'Bo'),(3,'Cy');
INSERT INTO port VALUES (1,'Lisbon',3),(2,'Faro',4);
INSERT INTO hire VALUES (10,1,100,1,2),(11,1,40,1,1),(12,2,60,2,1);
INSERT INTO pay VALUES (1,10,70),(2,10,30),(3,11,40),(4,12,50);
INSERT INTO extra VALUES (1,10,5),(2,10,7),(3,10,8),(4,12,10);
INSERT INTO crew VALUES (10,'Gil'),(10,'Hana'),(12,'Hana');
INSERT INTO depot VALUES (1,'North'),(2,'South'),(3,'West');
INSERT INTO parcel VALUES (1,1,'D',10),(2,1,'L',20),(3,7,'D',35),(4,NULL,'D',40),(5,2,NULL,50);
INSERT INTO sale VALUES (1,'2025-03-01 00:00:00',10,NULL),(2,'2025-03-31 18:00:00',20,NULL),
 (3,'2025-03-31 23:30:00',40,NULL),(4,'2025-04-01 00:00:00',80,NULL),
 (5,'2025-03-10 12:00:00',160,'2025-03-11 08:00:00');
INSERT INTO month_total VALUES ('2025-03',30,'2025-03-31 20:00:00');
