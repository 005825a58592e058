-- A small shop. Money is in integer cents. Its reference date is 2026-10-15 (writ.yaml), so "last
-- quarter" is 2026-07-01 <= order_date < 2026-10-01; orders 108 and 109 lie one day outside it.

-- one row = one customer; region is missing when nobody asked
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  region      TEXT
);
-- one row = one order, of any status
CREATE TABLE orders (
  order_id    INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers(customer_id),
  order_date  TEXT NOT NULL,
  status      TEXT NOT NULL
);
-- one row = one line of an order; a missing discount is none
CREATE TABLE order_items (
  item_id          INTEGER PRIMARY KEY,
  order_id         INTEGER NOT NULL REFERENCES orders(order_id),
  product          TEXT NOT NULL,
  quantity         INTEGER NOT NULL,
  unit_price_cents INTEGER NOT NULL,
  discount_cents   INTEGER
);
-- no scope of this example allows it
CREATE TABLE payroll (
  employee_id  INTEGER PRIMARY KEY,
  name         TEXT NOT NULL,
  salary_cents INTEGER NOT NULL
);

INSERT INTO customers (customer_id, name, region) VALUES
  (1, 'Acorn Ltd',    'East'),
  (2, 'Birch Co',     'West'),
  (3, 'Cedar LLC',    'South'),
  (4, 'Dogwood Inc',  NULL),
  (5, 'Elm Partners', 'East');

INSERT INTO orders (order_id, customer_id, order_date, status) VALUES
  (101, 1, '2026-07-01', 'completed'),
  (102, 5, '2026-09-30', 'completed'),
  (103, 2, '2026-08-14', 'completed'),
  (104, 3, '2026-07-20', 'completed'),
  (105, 4, '2026-08-02', 'completed'),
  (106, 3, '2026-08-09', 'cancelled'),
  (107, 2, '2026-09-12', 'pending'),
  (108, 1, '2026-06-30', 'completed'),
  (109, 1, '2026-10-01', 'completed');

INSERT INTO order_items (item_id, order_id, product, quantity, unit_price_cents, discount_cents)
VALUES
  (1,  101, 'Widget', 4, 5000,  1000),
  (2,  101, 'Gadget', 1, 5000,  NULL),
  (3,  102, 'Widget', 4, 5000,  2000),
  (4,  103, 'Gizmo',  3, 10000, NULL),
  (5,  104, 'Gadget', 2, 5000,  1000),
  (6,  105, 'Widget', 1, 4000,  NULL),
  (7,  106, 'Gizmo',  5, 10000, NULL),
  (8,  107, 'Widget', 2, 5000,  NULL),
  (9,  108, 'Gizmo',  7, 10000, NULL),
  (10, 109, 'Gizmo',  9, 10000, NULL);

INSERT INTO payroll (employee_id, name, salary_cents) VALUES
  (1, 'A. Example', 9000000),
  (2, 'B. Example', 8500000);
