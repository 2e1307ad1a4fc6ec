/** The class of drawing of each model: a table of models, and of body types for all others. */
import { ownValue } from "../../base/json.ts";

/** The models of each class, by their names without the make. */
const modelsOfClasses = {
  city: "500, 500e, Fiesta, Fit, Hardtop 2 Door, Mirage, Sonic, Spark, Yaris, i3, iQ, Fortwo",
  hatch:
    "Bolt EV, C-MAX, Clubman, Corolla Hatchback, Focus, GR Corolla, Golf, Golf GTI, Golf R, Hardtop 4 Door, Impreza, Juke, LEAF, Niro, Soul, Veloster, Volt, xB, A3 Sportback",
  "sedan-s":
    "200, A-Class, A3, Accent, CT4, Civic, Civic Type R, Corolla, Cruze, Elantra, Forte, ILX, Insight, Integra, Jetta, K4, Mazda3, Prius, Rio, Sentra, Versa, iA, 2 Series, CLA",
  "sedan-m":
    "3 Series, A4, A5, ATS, Accord, Altima, C-Class, CT5, CTS, Camry, Clarity, Fusion, G70, Giulia, IONIQ 6, IS, K5, Legacy, MKZ, Malibu, Mazda6, Model 3, Optima, Passat, Polestar 2, Q50, Regal, S60, Sonata, Stinger, TLX, WRX, XE, i4",
  "sedan-l":
    "300, 5 Series, 7 Series, A6, A7, A8, Air, Arteon, Avalon, CT6, Charger, Continental, Crown, E-Class, EQS, ES, Flying Spur, G80, G90, GS, Ghibli, Ghost, Impala, LS, LaCrosse, Maxima, Model S, Panamera, Quattroporte, S-Class, S90, Taurus, Taycan, XF, e-tron GT, i5, i7",
  coupe:
    "370Z, 4 Series, 718 Cayman, 8 Series, 86, 911, AMG GT, BRZ, Beetle, CLE, Camaro, Challenger, Charger Daytona, Corvette, F-TYPE, FR-S, GR Supra, GR86, GT-R, LC, M2, M4, Mustang, Q60, RC, TT, Z, tC, Continental GT, GranTurismo",
  convertible: "124 Spider, 718 Boxster, Convertible, MX-5 Miata, Portofino, SL, Z4",
  wagon: "Crown Signia, Flex, Outback, V60, V90, XV, A4 Allroad, A6 Allroad",
  crossover:
    "ADX, Bolt EUV, C-HR, CX-3, CX-30, Corolla Cross, Countryman, Crosstrek, EV6, EX30, EcoSport, Encore, Encore GX, Envista, Equinox EV, 500X, GLA, GV60, HR-V, Hornet, IONIQ 5, Kicks, Kona, Outlander Sport, Q3, Renegade, Rogue Sport, Seltos, Solterra, Taos, Tonale, Trailblazer, Trax, UX, Venue, X1, X2, XC40, XT4, bZ4X, C40 Recharge, ID.4, Q4 e-tron",
  "suv-m":
    "Ariya, Blazer, CR-V, CX-5, CX-50, Cherokee, Compass, Corsair, Discovery Sport, E-PACE, Edge, Envision, Equinox, Escape, Evoque, GLB, GLC, GV70, MKC, MKX, Murano, Nautilus, Outlander, Prologue, Q5, QX50, RAV4, RDX, Rogue, SQ5, SRX, Santa Fe, Sportage, Terrain, Tiguan, Tucson, Venza, X3, XC60, XT5, Electrified GV70, Patriot, Journey, Range Rover Evoque",
  "suv-box": "Bronco Sport, Forester, Element, Passport, 4Runner, GX, R1S, EV9",
  "suv-fast":
    "Eclipse Cross, Blazer EV, Cayenne, DBX, EQE SUV, F-PACE, I-PACE, LYRIQ, Levante, Macan, Macan Electric, Grecale, Model X, Model Y, Mustang Mach-E, NX, OPTIQ, Polestar 3, QX55, Q6 e-tron, Q8, RX, RZ, Range Rover Velar, Stelvio, Urus, X4, X6, ZDX, iX",
  "suv-l":
    "Acadia, Armada, Ascent, Atlas, Atlas Cross Sport, Aviator, CX-70, CX-9, CX-90, Discovery, Durango, EX90, Enclave, Escalade, Escalade ESV, Escalade IQ, Expedition, Expedition Max, Explorer, GLE, GLS, GV80, Grand Cherokee, Grand Cherokee L, Grand Highlander, Grand Wagoneer, Highlander, IONIQ 9, LX, MDX, Navigator, Palisade, Pathfinder, Pilot, Q7, QX60, QX80, Range Rover, Range Rover Sport, Sequoia, Sorento, Suburban, TX, Tahoe, Telluride, Traverse, VISTIQ, Wagoneer, X5, X7, XC90, XT6, Yukon, Yukon XL",
  offroad: "Bronco, Defender, G-Class, Land Cruiser, Wrangler",
  "pickup-c": "Canyon, Colorado, Frontier, Gladiator, Maverick, R1T, Ranger, Ridgeline, Santa Cruz, Tacoma",
  "pickup-f":
    "1500, 1500 Classic, 2500, 3500, F-150, F-150 Lightning, F-250 Super Duty, F-350 Super Duty, Hummer EV, Sierra 1500, Sierra 2500HD, Sierra 3500HD, Sierra EV, Silverado 1500, Silverado 2500HD, Silverado 3500HD, Silverado EV, Titan, Tundra, Cybertruck",
  minivan:
    "Carnival, Grand Caravan, ID. Buzz, Odyssey, Pacifica, Sedona, Sienna, Voyager, Transit Connect, ProMaster City",
  van: "Express 2500, ProMaster 2500, Savana 2500, Sprinter 2500, Transit 250",
} as const;

export type CarClass = keyof typeof modelsOfClasses;

const classNames = Object.keys(modelsOfClasses).filter((name): name is CarClass =>
  Object.hasOwn(modelsOfClasses, name),
);

const classOfModels: ReadonlyMap<string, CarClass> = new Map(
  classNames.flatMap((name) => modelsOfClasses[name].split(", ").map((model) => [model.toLowerCase(), name] as const)),
);

const classOfBodyTypes: Readonly<Record<string, CarClass>> = {
  Sedan: "sedan-m",
  SUV: "suv-m",
  Pickup: "pickup-f",
  Hatchback: "hatch",
  Coupe: "coupe",
  Convertible: "convertible",
  Minivan: "minivan",
  "Cargo Van": "van",
  "Passenger Van": "van",
  Wagon: "wagon",
};

/** The body types whose cars are drawn alike, regardless of their model. */
const ownBodyTypes: readonly string[] = ["Convertible", "Wagon"];

/** Returns the class that draws a car, by its model or else its body type; a sedan if both are unknown. */
export function carClassOf(model: string | null | undefined, bodyType: string | null | undefined): CarClass {
  const ofBody = ownValue(classOfBodyTypes, bodyType ?? "");
  if (ofBody !== undefined && ownBodyTypes.includes(bodyType ?? "")) return ofBody;
  return classOfModels.get((model ?? "").toLowerCase()) ?? ofBody ?? "sedan-m";
}
