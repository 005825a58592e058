CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10,2));
CREATE TABLE inventory_movements(movement_id INTEGER PRIMARY KEY, warehouse_id INTEGER, quantity INTEGER);
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, region TEXT);
CREATE TABLE weather_observations(id INTEGER PRIMARY KEY, station_id INTEGER, observation_date TEXT, temperature REAL);
