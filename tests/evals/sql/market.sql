-- A market of stalls: amounts in two currencies, times with T, days as text, references kept as
-- text, wares taken off the shelf, a table of totals that is built at night.
CREATE TABLE vendor(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, code TEXT NOT NULL UNIQUE);
CREATE TABLE stall(id INTEGER PRIMARY KEY, vendor_id INTEGER REFERENCES vendor(id), area INTEGER NOT NULL,
 rent INTEGER NOT NULL, zone_code TEXT);
CREATE TABLE rate_card(zone_code TEXT NOT NULL, season TEXT NOT NULL, fee INTEGER NOT NULL,
 PRIMARY KEY(zone_code, season));
CREATE TABLE ware(id INTEGER PRIMARY KEY, title TEXT NOT NULL, kind TEXT, unit_price INTEGER NOT NULL,
 tax_pct REAL NOT NULL, is_deleted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE receipt(id INTEGER PRIMARY KEY, stall_id INTEGER NOT NULL REFERENCES stall(id),
 at TEXT NOT NULL, currency TEXT NOT NULL, total INTEGER NOT NULL, discount INTEGER);
CREATE TABLE receipt_line(receipt_id INTEGER NOT NULL REFERENCES receipt(id), line_no INTEGER NOT NULL,
 ware_id INTEGER REFERENCES ware(id), qty INTEGER NOT NULL, price INTEGER NOT NULL,
 PRIMARY KEY(receipt_id, line_no));
CREATE TABLE visit(id INTEGER PRIMARY KEY, day TEXT NOT NULL, stall_ref TEXT, guests INTEGER NOT NULL,
 staff INTEGER NOT NULL);
CREATE TABLE note(id INTEGER PRIMARY KEY, vendor_code TEXT NOT NULL, written_on TEXT NOT NULL,
 removed_at TEXT, stars INTEGER NOT NULL);
CREATE TABLE day_total(day TEXT PRIMARY KEY, total INTEGER NOT NULL, refreshed_at TEXT NOT NULL);
INSERT INTO vendor VALUES (1,'Alba','Porto','al'),(2,'Bento','Braga','be'),(3,'Cruz','Porto','cr'),
 (4,'Dias',NULL,'di');
INSERT INTO stall VALUES (1,1,10,300,'A'),(2,1,20,500,'B'),(3,2,30,450,'A'),(4,NULL,5,90,'C');
INSERT INTO rate_card VALUES ('A','summer',30),('A','winter',20),('B','summer',50),('C','winter',10);
INSERT INTO ware VALUES (1,'bread','food',3,6.0,0),(2,'cheese','food',9,6.0,0),(3,'lamp','home',25,23.0,0),
 (4,'jam',NULL,5,13.0,1);
INSERT INTO receipt VALUES (1,1,'2026-03-01T00:00:00Z','EUR',12,NULL),(2,1,'2026-03-15T10:30:00Z','USD',34,4),
 (3,2,'2026-03-31T18:20:00Z','EUR',9,0),(4,3,'2026-03-31T23:50:00Z','EUR',30,NULL),
 (5,3,'2026-04-01T00:00:00Z','EUR',25,5),(6,4,'2026-04-02T09:00:00Z','USD',7,NULL);
INSERT INTO receipt_line VALUES (1,1,1,1,3),(1,2,2,1,9),(2,1,3,1,25),(2,2,2,1,9),(3,1,1,3,3),(4,1,4,6,5),
 (5,1,3,1,25),(6,1,NULL,1,7);
INSERT INTO visit VALUES (1,'2026-03-01','1',40,3),(2,'2026-03-01','2',25,2),(3,'2026-03-31','3',60,4),
 (4,'2026-04-01','1',55,3),(5,'2026-04-30','9',11,2);
INSERT INTO note VALUES (1,'al','2026-03-02',NULL,5),(2,'al','2026-03-20','2026-03-21',1),
 (3,'be','2026-04-05',NULL,4),(4,'cr','2026-03-31',NULL,2);
INSERT INTO day_total VALUES ('2026-03-31',39,'2026-03-31T21:00:00Z'),('2026-03-15',34,'2026-03-31T21:00:00Z');
