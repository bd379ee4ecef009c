/* The scales of plots and their ticks. */
#include <math.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/svg_parts.h"

#define MARGIN 0.04 /* on either side, as a share of the range */

enum { SHORT_DECADES = 3 }; /* scales with fewer decades have ticks at 2 and 5 too */

static double measure_of(const lab_scale *scale, double value)
{
    return scale->log ? log10(value) : value;
}

bool lab_scale_has(const lab_scale *scale, double value)
{
    return isfinite(value) && (!scale->log || value > 0);
}

double lab_scale_place(const lab_scale *scale, double value)
{
    double low = measure_of(scale, scale->low), high = measure_of(scale, scale->high);
    return scale->from + (scale->to - scale->from) * (measure_of(scale, value) - low) / (high - low);
}

void lab_scale_widen(lab_scale *scale, bool zero)
{
    double low = measure_of(scale, scale->low), high = measure_of(scale, scale->high);
    bool from_zero = zero && !scale->log && scale->low >= 0 && low - (high - low) / 2 <= 0;
    double margin = MARGIN * (high - low);
    if (!(margin > 1e-9 * fabs(high)))
        margin = scale->log || !(fabs(high) > 0) ? 0.5 : 0.1 * fabs(high);
    low = from_zero ? 0 : low - margin;
    high += margin;
    scale->low = scale->log ? pow(10, low) : low;
    scale->high = scale->log ? pow(10, high) : high;
}

/* The smallest of 1, 2 and 5 times a power of ten that is at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double share = least / power;
    return power * (share <= 1.0001 ? 1 : share <= 2.0001 ? 2 : share <= 5.0001 ? 5 : 10);
}

/* Logarithmic scales have three ticks per decade: index 0, 1, 2 are 1, 2, 5. */
static double log_tick(long index)
{
    static const double parts[] = {1, 2, 5};
    long part = ((index % 3) + 3) % 3, decade = (index - part) / 3;
    return parts[part] * pow(10, (double)decade);
}

void lab_ticks_start(lab_ticks *ticks, const lab_scale *scale, int most)
{
    memset(ticks, 0, sizeof *ticks);
    if (scale->log) {
        double decades = log10(scale->high / scale->low);
        ticks->step = decades < SHORT_DECADES ? 1 : 3;
        ticks->powers = scale->low < 0.9e-4 || scale->high > 1.1e5;
        ticks->labelled = 1 + (int)(decades / most);
        ticks->index = 3 * (long)floor(log10(scale->low) + 1e-9);
        ticks->last = 3 * (long)floor(log10(scale->high) + 1e-9) + 2;
        return;
    }
    ticks->step = round_step((scale->high - scale->low) / most);
    ticks->step = scale->whole ? fmax(ticks->step, 1) : ticks->step;
    ticks->index = (long)ceil(scale->low / ticks->step - 1e-9);
    ticks->last = (long)floor(scale->high / ticks->step + 1e-9);
}

static void label_log(lab_ticks *ticks)
{
    char power[LAB_NUMBER_ROOM], number[LAB_NUMBER_ROOM];
    long part = ((ticks->index % 3) + 3) % 3, decade = (ticks->index - part) / 3;
    ticks->label[0] = 0;
    if (decade % ticks->labelled != 0)
        return;
    if (!ticks->powers || (ticks->value > 0.9 && ticks->value < 99))
        snprintf(ticks->label, sizeof ticks->label, "%s",
                 lab_number(number, ticks->value, fmin(1, log_tick(3 * decade))));
    else if (part == 0)
        snprintf(ticks->label, sizeof ticks->label, "%s", lab_power_of_ten(power, (int)decade));
    else
        snprintf(ticks->label, sizeof ticks->label, "%d·%.48s", part == 1 ? 2 : 5,
                 lab_power_of_ten(power, (int)decade));
}

bool lab_tick_next(lab_ticks *ticks, const lab_scale *scale)
{
    char number[LAB_NUMBER_ROOM];
    while (ticks->index <= ticks->last) {
        ticks->value = scale->log ? log_tick(ticks->index) : (double)ticks->index * ticks->step;
        if (scale->log)
            label_log(ticks);
        else
            snprintf(ticks->label, sizeof ticks->label, "%s", lab_number(number, ticks->value, ticks->step));
        ticks->index += scale->log ? (long)ticks->step : 1;
        if (!scale->log || (ticks->value >= scale->low * (1 - 1e-9) && ticks->value <= scale->high * (1 + 1e-9)))
            return true;
    }
    return false;
}
