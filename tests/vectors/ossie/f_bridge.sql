CREATE TABLE actors(actor_id INTEGER PRIMARY KEY, name TEXT, height INTEGER);
INSERT INTO actors VALUES (1,'Alice',170),(2,'Bob',170),(3,'Carol',180);
CREATE TABLE movies(movie_id INTEGER PRIMARY KEY, title TEXT, gross DECIMAL(10,2));
INSERT INTO movies VALUES (10,'Action',100.00),(11,'Drama',200.00),(12,'Comedy',50.00);
CREATE TABLE appearances(actor_id INTEGER, movie_id INTEGER, PRIMARY KEY(actor_id, movie_id));
INSERT INTO appearances VALUES (1,10),(1,11),(2,10),(3,12);
