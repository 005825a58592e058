CREATE TABLE employees(id INTEGER PRIMARY KEY, name TEXT, manager_id INTEGER, region TEXT);
INSERT INTO employees VALUES (1,'Ada',NULL,'EAST'),(2,'Bo',1,'EAST'),(3,'Cy',1,'WEST'),(4,'Di',3,'WEST'),(5,'Ed',3,'EAST');
