-- A clinic: stays with an admission in UTC, voided bills, treatments and meals of a stay, teams of
-- doctors, laboratory values by the doctor's number as text, a table of months built at night.
CREATE TABLE ward(code TEXT PRIMARY KEY, title TEXT NOT NULL, beds INTEGER NOT NULL);
CREATE TABLE patient(id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT, born TEXT NOT NULL);
CREATE TABLE doctor(id INTEGER PRIMARY KEY, name TEXT NOT NULL, ward_code TEXT NOT NULL REFERENCES ward(code));
CREATE TABLE stay(id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(id),
 ward_in TEXT NOT NULL REFERENCES ward(code), ward_out TEXT REFERENCES ward(code), admitted TEXT NOT NULL,
 discharged TEXT, bill INTEGER NOT NULL);
CREATE TABLE invoice(id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(id), day TEXT NOT NULL,
 total INTEGER NOT NULL, voided_at TEXT);
CREATE TABLE treatment(id INTEGER PRIMARY KEY, stay_id INTEGER REFERENCES stay(id), kind TEXT NOT NULL,
 minutes INTEGER NOT NULL, cost INTEGER NOT NULL);
CREATE TABLE meal(id INTEGER PRIMARY KEY, stay_id INTEGER NOT NULL REFERENCES stay(id), price INTEGER NOT NULL);
CREATE TABLE team(stay_id INTEGER NOT NULL REFERENCES stay(id), doctor_id INTEGER NOT NULL REFERENCES doctor(id),
 PRIMARY KEY(stay_id, doctor_id));
CREATE TABLE lab(id INTEGER PRIMARY KEY, doctor_ref TEXT NOT NULL, state TEXT, value REAL NOT NULL);
CREATE TABLE donation(id INTEGER PRIMARY KEY, currency TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE month_bill(month TEXT PRIMARY KEY, bill INTEGER NOT NULL, refreshed_at TEXT NOT NULL);
INSERT INTO ward VALUES ('S','surgery',20),('C','children',12),('E','eyes',6),('R','rest',4);
INSERT INTO patient VALUES (1,'Ana','Porto','1980-02-03'),(2,'Rui','Braga','1975-11-30'),(3,'Eva',NULL,'2012-06-01'),
 (4,'Gil','Porto','1990-01-15');
INSERT INTO doctor VALUES (1,'Dr. Nunes','S'),(2,'Dr. Pires','C'),(3,'Dr. Lobo','E'),(4,'Dr. Reis','S');
INSERT INTO stay VALUES (1,1,'S','S','2025-03-01 00:00:00','2025-03-05',900),
 (2,1,'S','E','2025-03-20 14:00:00','2025-03-22',400),(3,2,'C','C','2025-03-31 21:15:00',NULL,700),
 (4,3,'C',NULL,'2025-03-31 23:40:00',NULL,300),(5,2,'E','S','2025-04-01 00:00:00','2025-04-03',1100),
 (6,3,'E','E','2025-03-12 09:00:00','2025-03-13',250);
INSERT INTO invoice VALUES (1,1,'2025-03-05',900,NULL),(2,1,'2025-03-22',400,'2025-03-23'),(3,2,'2025-04-03',1100,NULL);
INSERT INTO treatment VALUES (1,1,'operation',120,500),(2,1,'check',15,40),(3,2,'check',10,30),(4,3,'operation',60,350),
 (5,3,'check',20,50),(6,5,'check',12,35),(7,NULL,'check',9,20);
INSERT INTO meal VALUES (1,1,12),(2,1,12),(3,1,9),(4,2,12),(5,3,7);
INSERT INTO team VALUES (1,1),(1,2),(3,2),(5,1),(5,3);
INSERT INTO lab VALUES (1,'1','P',4.5),(2,'1','N',2.5),(3,'2','P',7.0),(4,'3',NULL,1.5),(5,'9','P',3.0);
INSERT INTO donation VALUES (1,'EUR',100),(2,'USD',250),(3,'EUR',50);
INSERT INTO month_bill VALUES ('2025-03',1300,'2025-03-31 20:00:00'),('2025-04',0,'2025-03-31 20:00:00');
