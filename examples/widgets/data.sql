-- The classic of fan-out: an order has an amount of its own and several lines. Adding up
-- orders.amount_cents after a join to order_items counts each order once per line: 2300.00 for the
-- second quarter of 2025, where the Widgets sold are worth 1000.00.

-- one row = one article
CREATE TABLE dim_sku (
  sku           TEXT PRIMARY KEY,
  category_name TEXT NOT NULL
);
-- one row = one order
CREATE TABLE orders (
  order_id     INTEGER PRIMARY KEY,
  customer_id  INTEGER NOT NULL,
  order_date   TEXT NOT NULL,
  amount_cents INTEGER NOT NULL
);
-- one row = one line of an order
CREATE TABLE order_items (
  item_id          INTEGER PRIMARY KEY,
  order_id         INTEGER NOT NULL REFERENCES orders(order_id),
  sku              TEXT NOT NULL REFERENCES dim_sku(sku),
  qty              INTEGER NOT NULL,
  unit_price_cents INTEGER NOT NULL
);

INSERT INTO dim_sku (sku, category_name) VALUES
  ('W-1', 'Widgets'),
  ('W-2', 'Widgets'),
  ('G-1', 'Gadgets');

INSERT INTO orders (order_id, customer_id, order_date, amount_cents) VALUES
  (1001, 1, '2025-04-05', 50000),
  (1002, 2, '2025-05-10', 20000),
  (1003, 3, '2025-06-30', 30000),
  (1004, 1, '2025-07-01', 70000);

INSERT INTO order_items (item_id, order_id, sku, qty, unit_price_cents) VALUES
  (1, 1001, 'W-1', 2, 10000),
  (2, 1001, 'W-2', 1, 20000),
  (3, 1001, 'W-1', 1, 10000),
  (4, 1002, 'W-2', 1, 20000),
  (5, 1003, 'W-1', 1, 10000),
  (6, 1003, 'W-2', 1, 20000),
  (7, 1004, 'W-1', 7, 10000);
